internal import CTaskPlugin

/// A call that an interceptor decides about: its task, options and caller, and the operations available before the
/// decision. May be stored and used on any thread. After the call has ended, everything sent through it is dropped.
public struct InterceptedCall: Sendable {
    /// The task that is called.
    public let task: String

    /// The options, one JSON value, exactly as the caller sent them. The same value may arrive with different spaces,
    /// escapes or digits. The options have not been checked against the task yet.
    public let rawOptions: [UInt8]

    /// The session that must have registered the task; `nil` if the caller specified none.
    public let session: SessionID?

    /// Whether the caller does not wait for the answer.
    public let isOneWay: Bool

    /// The request for a decision, with all operations of a task's call. Operations through it are on behalf of the
    /// caller, `reportProgress` reaches the caller, and log lines name the call.
    public let question: Call

    /// The caller.
    public var caller: Caller { question.caller }

    /// The time at which the daemon ends the call; `nil` if there is no deadline.
    public var deadline: ContinuousClock.Instant? { question.deadline }

    /// The time left to the call now; zero after the deadline; `nil` if there is no deadline.
    public var timeRemaining: Duration? { question.timeRemaining }

    /// Whether the call has ended, so that no decision is needed. Correct on every thread.
    public var isCancelled: Bool { question.isCancelled }

    /// The daemon's log.
    public var log: PluginLog { question.log }

    /// The plugin's operations outside this call.
    public var plugin: PluginContext { question.plugin }

    /// The options as JSON, decoded from `rawOptions` at each access. They may be as long as the task permits: read
    /// options of more than 64 KiB outside the loop thread, in `question.blocking`.
    ///
    /// - Throws: An error if they are nested too deeply.
    public var options: JSON {
        get throws(JSONMismatch) { try options(as: JSON.self) }
    }

    /// Decodes the options at each call. As with `options`, read long ones outside the loop thread.
    ///
    /// - Throws: An error if they do not fit. If the interceptor throws that error, it counts as its failure. It is
    ///   better to pass such options on, so that the task refuses them.
    public func options<Options: Decodable>(as type: Options.Type) throws(JSONMismatch) -> Options {
        try rawOptions.span.bytes.withUnsafeBytes { bytes throws(JSONMismatch) in
            try JSONCoding.decode(type, from: bytes)
        }
    }

    /// Calls another task on behalf of the caller; see `Call.call`. This interceptor does not receive that call.
    public func call<R: Decodable & Sendable>(
        _ task: String, _ options: some Encodable & Sendable, session: SessionID? = nil,
        timeout: Timeout = .standard
    ) async throws(BridgeError) -> R {
        try await question.call(task, options, session: session, timeout: timeout)
    }

    /// Calls the task now and waits for its result, for an interceptor that stores the result or answers with another
    /// one. The remaining interceptors are called as usual. Progress reaches the caller.
    ///
    /// - Throws: The task's error, and the errors of `Call.call`.
    public func proceed<R: Decodable & Sendable>() async throws(BridgeError) -> R {
        try await question.proceed(task, rawOptions, session: session)
    }

    /// Reads a request for a decision. Loop thread; the request is borrowed.
    ///
    /// - Throws: An error if it is not such a request.
    init(_ request: UnsafePointer<trestle_request>, _ call: Call) throws(JSONMismatch) {
        var question = Question()
        var members = MemberCursor(request.pointee.options.buffer)
        while let member = members.next() { try question.take(member.key, member.value) }
        guard let task = question.task, let options = question.options else {
            throw JSONMismatch(path: "$", expected: "an object with task and options", got: "another value")
        }
        (self.task, rawOptions) = (task, options)
        (session, isOneWay) = (question.session, question.isOneWay)
        self.question = call
    }

    /// The members of a request for a decision. The options stay text, because they may be as long as a message.
    private struct Question {
        var task: String?
        var session: SessionID?
        var isOneWay = false
        var options: [UInt8]?

        /// - Parameter key: The key with its quotes.
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
    /// Answers a request for a decision.
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
                handle, BridgeError(.internal, "the request to \(type(of: interceptor).name) cannot be read: \(error)")
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

    /// The answer to `start` and `reconfigure`: the current tasks of each interceptor.
    var interceptedTasks: JSON {
        var all: JSONObject = [:]
        for one in parts.interceptors {
            all[one.name] = .array(one.interceptor.tasks.map(JSON.string))
        }
        return parts.interceptors.isEmpty ? .object([:]) : ["interceptors": .object(all)]
    }
}

/// An interceptor with its type erased.
struct AnyInterceptor: Sendable {
    let interceptor: any Interceptor

    var name: String { type(of: interceptor).name }
    var summary: String { type(of: interceptor).summary }

    /// The interceptor's entry in the manifest.
    var description: JSON {
        [
            "name": .string(name), "summary": .string(summary), "tasks": .array(interceptor.tasks.map(JSON.string)),
            "onFailure": .string(type(of: interceptor).onFailure.rawValue),
        ]
    }

    func defects() -> [String] {
        interceptor.tasks.filter { !Self.isPattern($0) }.map {
            "the interceptor \(name) has the pattern “\($0)”; a pattern is a task's name, or a prefix of names "
                + "followed by *"
        }
    }

    private static func isPattern(_ text: String) -> Bool { !text.isEmpty && !text.dropLast().contains("*") }
}
