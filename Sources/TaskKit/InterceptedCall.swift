internal import CTaskPlugin

/// A call that an interceptor is asked about: of which task, with which options, by whom, and what can be done before
/// it is decided. May be kept and used on any thread; once the call has ended, what is sent through it goes nowhere.
public struct InterceptedCall: Sendable {
    /// The task that is called.
    public let task: String

    /// The options, one JSON value, to the byte as the caller sent it: the same value may come with other spaces,
    /// escapes or digits. It has not been checked yet whether it fits the task.
    public let rawOptions: [UInt8]

    /// The session whose task is meant, where the caller named one.
    public let session: SessionID?

    /// No one waits for the answer.
    public let isOneWay: Bool

    /// The question that this call brought to the plugin, with all that a task's call has: what is done through it is
    /// done on behalf of the caller, `progress` reaches them, and the log names the call.
    public let question: Call

    /// Who makes the call.
    public var caller: Caller { question.caller }

    /// When the daemon ends the call; nil: never.
    public var deadline: ContinuousClock.Instant? { question.deadline }

    /// The time that is left to the call now, zero once it has passed; nil: no deadline.
    public var timeRemaining: Duration? { question.timeRemaining }

    /// The call has ended, and no one waits for a decision. Right on every thread.
    public var isCancelled: Bool { question.isCancelled }

    /// The daemon's log.
    public var log: PluginLog { question.log }

    /// What the plugin can do apart from this call.
    public var plugin: PluginContext { question.plugin }

    /// The options as JSON, made of `rawOptions` each time that it is asked for. Options may be as long as the task
    /// takes them: those of more than 64 KiB are better read beside the loop, in `question.blocking`.
    ///
    /// - Throws: where they are nested too deep for that.
    public var options: JSON {
        get throws(JSONMismatch) { try options(as: JSON.self) }
    }

    /// The options, decoded each time that it is called. As for `options`, long ones are better read beside the loop.
    ///
    /// - Throws: Where they do not fit. Thrown on by the interceptor it is a failure; options that do not fit are
    ///   rather passed on, for the task to refuse.
    public func options<Options: Decodable>(as type: Options.Type) throws(JSONMismatch) -> Options {
        try rawOptions.span.bytes.withUnsafeBytes { bytes throws(JSONMismatch) in
            try JSONCoding.decode(type, from: bytes)
        }
    }

    /// Calls another task on behalf of the caller; see `Call.call`. The call is not shown to this interceptor.
    public func call<R: Decodable & Sendable>(
        _ task: String, _ options: some Encodable & Sendable, session: SessionID? = nil,
        timeout: Timeout = .standard
    ) async throws(BridgeError) -> R {
        try await question.call(task, options, session: session, timeout: timeout)
    }

    /// Has the task do what it was called for, here and now, and waits for the result: for who wants to keep it, or to
    /// answer with something else. The interceptors that have not been asked about it are asked. Progress reaches the
    /// caller.
    ///
    /// - Throws: What the task answered, and what `Call.call` throws.
    public func proceed<R: Decodable & Sendable>() async throws(BridgeError) -> R {
        try await question.proceed(task, rawOptions, session: session)
    }

    /// Reads a question. Loop thread; the request is borrowed.
    ///
    /// - Throws: where it is none.
    init(_ request: UnsafePointer<trestle_request>, _ call: Call) throws(JSONMismatch) {
        var question = Question()
        var members = MemberCursor(request.pointee.options.buffer)
        while let member = members.next() { try question.take(member.key, member.value) }
        guard let task = question.task, let options = question.options else {
            throw JSONMismatch(path: "$", expected: "a question with task and options", got: "another value")
        }
        (self.task, rawOptions) = (task, options)
        (session, isOneWay) = (question.session, question.isOneWay)
        self.question = call
    }

    /// What a question says. Its options stay text: they may be as long as a message.
    private struct Question {
        var task: String?
        var session: SessionID?
        var isOneWay = false
        var options: [UInt8]?

        /// - Parameter key: with its quotes.
        mutating func take(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(JSONMismatch) {
            let name = UnsafeRawBufferPointer(rebasing: key.dropFirst().dropLast())
            func isSame(_ other: StaticString) -> Bool {
                WrittenName.isSame(
                    name, as: UnsafeRawBufferPointer(start: other.utf8Start, count: other.utf8CodeUnitCount))
            }
            if isSame("options") {
                options = Array(value)
            } else if isSame("task") {
                task = try JSONCoding.decode(String.self, from: value)
            } else if isSame("session") {
                session = try JSONCoding.decode(SessionID?.self, from: value)
            } else if isSame("oneWay") {
                isOneWay = try JSONCoding.decode(Bool?.self, from: value) ?? false
            }
        }
    }
}

extension Call {
    fileprivate func proceed<R: Decodable & Sendable>(
        _ task: String, _ options: [UInt8], session: SessionID?
    ) async throws(BridgeError) -> R {
        guard wantsProgress else {
            return try await sender.call(task, encoded: options, session: session, onProgress: nil)
        }
        return try await sender.call(task, encoded: options, session: session) { runtime.host.progress(handle, $0) }
    }
}

extension PluginRuntime {
    /// Answers a question to an interceptor.
    func intercept(_ request: UnsafePointer<trestle_request>) {
        let handle = request.pointee.call
        guard parts.interceptors.indices.contains(Int(request.pointee.number)) else {
            let message = "the plugin \(parts.name) has no interceptor number \(request.pointee.number)"
            return host.fail(handle, BridgeError(.internal, message))
        }
        let interceptor = parts.interceptors[Int(request.pointee.number)].interceptor
        let line = CallTask(request)
        let call: InterceptedCall
        do throws(JSONMismatch) {
            call = try InterceptedCall(request, makeCall(request, cancelMark: line.mark))
        } catch {
            return host.fail(
                handle, BridgeError(.internal, "the question to \(type(of: interceptor).name) cannot be read: \(error)")
            )
        }
        begin(line) {
            line.task = Task.immediate(executorPreference: executor) {
                do {
                    self.decide(handle, try await interceptor.intercept(call))
                } catch let error as BridgeError {
                    self.decide(handle, Decision(kind: .refuse(error)))
                } catch is CancellationError {
                    self.decide(handle, Decision(kind: .refuse(BridgeError(thrown: CancellationError()))))
                } catch {
                    let what = "the interceptor \(type(of: interceptor).name) failed"
                    self.fail(handle, thrown: BridgeError(unforeseen: error, what))
                }
            }
        }
    }

    private func decide(_ handle: trestle_call, _ decision: Decision) {
        do throws(JSONEncodingError) {
            let text = try decision.text()
            forget(handle)
            text.withUnsafeBytes { host.reply(handle, $0) }
        } catch {
            fail(handle, thrown: BridgeError(.internal, "the decision cannot be written as JSON: \(error)"))
        }
    }

    /// What `start` and `reconfigure` answer: the tasks that interceptors are for, as the plugin has them now.
    var interceptedTasks: JSON {
        var all: JSONObject = [:]
        for one in parts.interceptors {
            all[one.name] = .array(one.interceptor.tasks.map(JSON.string))
        }
        return parts.interceptors.isEmpty ? .object([:]) : ["interceptors": .object(all)]
    }
}

/// An interceptor, its type erased.
struct AnyInterceptor: Sendable {
    let interceptor: any Interceptor

    var name: String { type(of: interceptor).name }
    var summary: String { type(of: interceptor).summary }

    /// As the manifest has it.
    var description: JSON {
        [
            "name": .string(name), "summary": .string(summary), "tasks": .array(interceptor.tasks.map(JSON.string)),
            "onFailure": .string(type(of: interceptor).onFailure.rawValue),
        ]
    }

    func defects() -> [String] {
        interceptor.tasks.filter { !Self.isPattern($0) }.map {
            "the interceptor \(name) is for “\($0)”, which must be a task's name, or the beginning of names with a * "
                + "behind it"
        }
    }

    private static func isPattern(_ text: String) -> Bool { !text.isEmpty && !text.dropLast().contains("*") }
}
