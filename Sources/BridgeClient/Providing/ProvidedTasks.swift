import BridgeJSON
import BridgeMessage
import EventLoop

/// The handler of a provided task: returns the result, or throws.
typealias TaskHandler = @Sendable (JSON, IncomingCall) async throws -> JSON

/// A task that this client provides or wants to provide.
final class ProvidedTask: Sendable {
    let task: String
    let handler: TaskHandler
    private let scope: ProviderScope
    private let description: TaskDescription?

    init(task: String, scope: ProviderScope, description: TaskDescription?, _ handler: @escaping TaskHandler) {
        self.task = task
        self.scope = scope
        self.description = description
        self.handler = handler
    }

    func request(timeout: Timeout = .standard, retry: Retry = .never) -> CallRequest {
        var options: JSONObject = ["tasks": [.string(task)], "scope": .string(scope.rawValue)]
        if let description { options["descriptions"] = .object([task: description.json]) }
        return CallRequest("bridge.register", .object(options), timeout: timeout, retry: retry)
    }
}

/// The tasks that this client provides, and their running calls.
@LoopActor
final class ProvidedTasks {
    /// A copy of a call id of the daemon, equal for equal ids. The next daemon chooses the same ids again, so the
    /// connection is a part of the value; it exists as long as one of its calls runs.
    private struct ID: Hashable {
        let connection: ObjectIdentifier
        let content: [UInt8]
        let isString: Bool

        init(_ id: CallbackID, _ connection: ClientConnection) {
            self.connection = ObjectIdentifier(connection)
            content = Array(id.content)
            isString = id.isString
        }
    }

    /// The destination of a call's answer: only the daemon that sent the call.
    private struct Sender {
        let connection: ClientConnection
        /// The text of the call's id.
        let id: [UInt8]
    }

    /// A running call.
    private struct Running {
        let task: Task<Void, Never>
        let report: ProgressReport?

        /// Cancels the call: the caller no longer waits.
        func cancel() {
            report?.end()
            task.cancel()
        }
    }

    private let link: Link
    private let calls: CallsInFlight
    /// The tasks that a daemon has accepted, in the order of their registration, in which they are restored.
    private var taken: [ProvidedTask] = []
    /// The tasks that receive calls, by name.
    private var handlers: [String: ProvidedTask] = [:]
    private var running: [ID: Running] = [:]
    private var oneWayCount = 0
    /// Whether further calls are refused.
    private var isFinishing = false
    private let idle = AsyncSignal<Void>()

    init(_ link: Link, _ calls: CallsInFlight) {
        self.link = link
        self.calls = calls
    }

    // MARK: Registering

    func register(_ provided: ProvidedTask) async throws(BridgeError) {
        // Set before the call: the first call of the task may arrive with the callback.
        let earlier = handlers.updateValue(provided, forKey: provided.task)
        do throws(BridgeError) {
            // Registering twice does no harm: if the answer is lost with the connection, the call goes to the next
            // daemon.
            _ = try await calls.call(provided.request(retry: .transient))
        } catch {
            handlers[provided.task] = earlier
            if error.mayHaveEffect {
                // A Swift task of its own, because this one may be cancelled.
                Task { await self.takeBack(provided.task) }
            }
            throw error
        }
        taken.removeAll { $0.task == provided.task }
        taken.append(provided)
    }

    /// Removes a registration that the daemon may have accepted, unless the task is provided.
    private func takeBack(_ task: String) async {
        guard handlers[task] == nil, !link.isApart else { return }
        // If it fails, the connection has ended, and the registration with it.
        try? await calls.notify(CallRequest("bridge.unregister", ["tasks": [.string(task)]]))
    }

    func unregister(_ provided: ProvidedTask) async throws(BridgeError) {
        guard handlers[provided.task] === provided else { return }
        // Without a connection no daemon has the registration, and the next one does not get it.
        if !link.isApart {
            _ = try await calls.call(CallRequest("bridge.unregister", ["tasks": [.string(provided.task)]]))
            // It may have been registered again meanwhile.
            guard handlers[provided.task] === provided else { return }
        }
        taken.removeAll { $0 === provided }
        handlers[provided.task] = nil
    }

    /// Registers all tasks with another daemon. Returns the refused ones.
    /// - Throws: The reason why the connection is not usable.
    func restore(over connection: ClientConnection) async throws(BridgeError) -> [RefusedRegistration] {
        var refused: [RefusedRegistration] = []
        for provided in taken where taken.contains(where: { $0 === provided }) {
            do throws(BridgeError) {
                let request = provided.request(timeout: .after(ClientSession.helloTimeout))
                _ = try await calls.call(request, over: connection)
            } catch {
                if connection.isUseless(after: error) { throw error }
                refused.append(RefusedRegistration(task: provided.task, error: error))
            }
        }
        return refused
    }

    // MARK: Calls

    func receive(_ message: CallMessage, from connection: ClientConnection) {
        let sender = message.callbackID.map { Sender(connection: connection, id: Array($0.text)) }
        do throws(BridgeError) {
            guard !isFinishing else { throw BridgeError(.providerClosed, "this client ends") }
            let call = incoming(message, sender)
            guard let handler = handlers[call.task]?.handler else {
                throw BridgeError(.taskNotFound, "this client provides no task \(call.task)")
            }
            guard running.count + oneWayCount < link.limits.maximumRunningCalls else {
                throw BridgeError(
                    .busy,
                    "this client works on \(link.limits.maximumRunningCalls) calls, its maximum at a time",
                    data: ["started": false], isTransient: true, retryAfter: .seconds(1))
            }
            let options = try Self.options(message)
            if let sender, let id = message.callbackID {
                start(options, call, handler, ID(id, connection), sender)
            } else {
                startOneWay(options, call, handler)
            }
        } catch {
            if let sender { answer(sender, .failure(error)) }
        }
    }

    private static func options(_ message: CallMessage) throws(BridgeError) -> JSON {
        do throws(JSONSyntaxError) {
            return try JSON(parsing: message.options)
        } catch {
            throw BridgeError(.messageInvalid, "the options are not valid JSON: \(error)")
        }
    }

    private func incoming(_ message: CallMessage, _ sender: Sender?) -> IncomingCall {
        var report: ProgressReport?
        if message.wantsProgress, let sender { report = ProgressReport(sender.connection, id: sender.id) }
        return IncomingCall(
            task: String(decoding: message.task, as: UTF8.self),
            caller: .init(message.caller.isEmpty ? nil : try? JSON(parsing: message.caller)),
            deadline: message.timeout.map { .now + $0 }, wantsProgress: message.wantsProgress,
            isOneWay: sender == nil, id: sender.flatMap { UInt64(String(decoding: $0.id, as: UTF8.self)) },
            report: report)
    }

    private func start(
        _ options: JSON, _ call: IncomingCall, _ handler: @escaping TaskHandler, _ key: ID, _ sender: Sender
    ) {
        let task = Task { @concurrent in
            let outcome = await Self.run(handler, options, call)
            await self.finish(key, sender, outcome)
        }
        running[key] = Running(task: task, report: call.report)
    }

    private func startOneWay(_ options: JSON, _ call: IncomingCall, _ handler: @escaping TaskHandler) {
        oneWayCount += 1
        Task { @concurrent in
            _ = await Self.run(handler, options, call)
            await self.finishOneWay()
        }
    }

    private nonisolated static func run(
        _ handler: TaskHandler, _ options: JSON, _ call: IncomingCall
    ) async -> Result<JSON, BridgeError> {
        do {
            return .success(try await handler(options, call))
        } catch let error as BridgeError {
            return .failure(error)
        } catch is CancellationError {
            return .failure(BridgeError(.callCancelled, "the call was cancelled", data: ["started": true]))
        } catch {
            return .failure(BridgeError(.internal, "\(call.task) failed: \(error)"))
        }
    }

    private func finish(_ key: ID, _ sender: Sender, _ outcome: Result<JSON, BridgeError>) async {
        running[key]?.report?.end()
        // A cancelled call does not wait; it still gets its one callback.
        try? await sender.connection.waitForRoom(for: "a callback")
        running[key] = nil
        answer(sender, outcome)
        if isIdle { idle.resumeAll(()) }
    }

    private func finishOneWay() {
        oneWayCount -= 1
        if isIdle { idle.resumeAll(()) }
    }

    private var isIdle: Bool { running.isEmpty && oneWayCount == 0 }

    private func answer(_ sender: Sender, _ outcome: Result<JSON, BridgeError>) {
        sender.connection.send { output in
            sender.id.withUnsafeBytes { id in
                switch outcome {
                case .success(let result):
                    result.bytes.withUnsafeBytes { MessageEncoder.callback(id: id, result: $0, to: output) }
                case .failure(let error):
                    MessageEncoder.callback(id: id, error: error, to: output)
                }
            }
        }
    }

    // MARK: The end

    /// Refuses further calls. Returns when the running calls are answered, or the Swift task is cancelled.
    func finish() async {
        isFinishing = true
        while !isIdle { guard await idle.wait() != nil else { return } }
    }

    /// Cancels the handler's Swift task because the caller cancelled; the call still ends with its one callback.
    func cancel(_ id: CallbackID, from connection: ClientConnection) {
        running[ID(id, connection)]?.cancel()
    }

    func cancelAll() {
        for call in running.values { call.cancel() }
    }
}
