import BridgeJSON
import BridgeMessage
import EventLoop

/// What a program asks for.
struct CallRequest: Sendable {
    let task: String
    let options: JSON
    let session: UInt64?
    let timeout: Duration?

    init(_ task: String, _ options: JSON, session: UInt64?, timeout: Duration?) {
        self.task = task
        self.options = options
        self.session = session
        self.timeout = timeout
    }
}

/// A call that has been sent: one terminal outcome, which whoever waits gets.
@LoopActor
final class CallInFlight {
    let id: UInt64
    let task: String
    /// Intermediate results, newest kept: beyond the bound the oldest go, as they may anywhere on the way.
    let progress: Mailbox<JSON>?
    private(set) var outcome: Result<JSON, BridgeError>?
    /// Ends the call here where the daemon does not end it in time.
    private var deadline: LoopTimer?
    private let waiting = WaitingList<Void>()

    private static let progressCapacity = 256

    init(id: UInt64, task: String, wantsProgress: Bool) {
        self.id = id
        self.task = task
        progress = wantsProgress ? Mailbox(capacity: Self.progressCapacity) : nil
    }

    func arm(_ deadline: LoopTimer) {
        self.deadline = deadline
    }

    func end(_ outcome: Result<JSON, BridgeError>) {
        guard self.outcome == nil else { return }
        self.outcome = outcome
        deadline?.close()
        progress?.finish(.success(()))
        waiting.resumeAll(())
    }

    /// The outcome; nil where the Swift task is cancelled first.
    func wait() async -> Result<JSON, BridgeError>? {
        if outcome == nil { _ = await waiting.wait() }
        return outcome
    }
}

/// The calls that this end makes.
@LoopActor
final class CallsInFlight {
    /// How much later than the call's own timeout this end gives up waiting for the daemon to report it.
    var grace = Duration.seconds(2)

    private let connection: ClientConnection
    private var calls: [UInt64: CallInFlight] = [:]
    private var lastID: UInt64 = 0

    init(_ connection: ClientConnection) {
        self.connection = connection
    }

    // MARK: Making calls

    func call(_ request: CallRequest) async throws(BridgeError) -> JSON {
        try await outcome(of: try await begin(request, wantsProgress: false))
    }

    /// Waits for a call's end. Where the Swift task is cancelled, the call is too.
    func outcome(of call: CallInFlight) async throws(BridgeError) -> JSON {
        guard let outcome = await call.wait() else {
            let error = BridgeError.cancelledHere(call.task, started: nil)
            cancel(call, error)
            throw error
        }
        return try outcome.get()
    }

    /// Sends a call.
    func begin(_ request: CallRequest, wantsProgress: Bool = true) async throws(BridgeError) -> CallInFlight {
        try await prepare(request)
        lastID += 1
        let call = CallInFlight(id: lastID, task: request.task, wantsProgress: wantsProgress)
        try append(request, id: call.id, wantsProgress: wantsProgress)
        calls[call.id] = call
        if let timeout = request.timeout { arm(call, timeout) }
        return call
    }

    /// Sends a call that nobody answers.
    func send(_ request: CallRequest) async throws(BridgeError) {
        try await prepare(request)
        try append(request, id: nil, wantsProgress: false)
    }

    private func prepare(_ request: CallRequest) async throws(BridgeError) {
        guard !request.task.isEmpty else {
            throw BridgeError(.taskNotFound, "a call needs the name of a task; bridge.tasks lists those that there are")
        }
        if Task.isCancelled { throw .cancelledHere(request.task, started: false) }
        try await connection.waitForRoom(for: request.task)
    }

    /// - Throws: `message.too_large`, so that the daemon need not discard what it would not take.
    private func append(_ request: CallRequest, id: UInt64?, wantsProgress: Bool) throws(BridgeError) {
        let message = OutputBuffer()
        JSON.string(request.task).bytes.withUnsafeBytes { task in
            request.options.bytes.withUnsafeBytes { options in
                var call = OutgoingCall(quotedTask: task, options: options)
                call.id = id
                call.setTimeout(request.timeout)
                call.wantsProgress = wantsProgress
                call.session = request.session
                MessageEncoder.call(call, to: message)
            }
        }
        // Its line end is not counted.
        let lineBytes = message.count - 1
        guard lineBytes <= connection.messageBytes else {
            throw BridgeError(
                .messageTooLarge,
                "the call of \(request.task) has \(lineBytes) bytes, and the daemon takes \(connection.messageBytes)",
                data: ["started": false])
        }
        connection.send { $0.append(message.bytes) }
    }

    private func arm(_ call: CallInFlight, _ timeout: Duration) {
        let timer = LoopTimer { [weak self] in
            let error = BridgeError(
                .callTimeout, "neither a callback of \(call.task) nor word of its deadline came from the daemon",
                isTransient: true)
            self?.cancel(call, error)
        }
        timer.schedule(after: timeout + grace)
        call.arm(timer)
    }

    // MARK: Ending calls

    /// Ends a call here and tells the daemon.
    func cancel(_ call: CallInFlight, _ error: BridgeError) {
        guard calls.removeValue(forKey: call.id) != nil else { return }
        connection.send { MessageEncoder.cancel(id: call.id, to: $0) }
        call.end(.failure(error))
    }

    func cancelAll(_ error: BridgeError) {
        for call in calls.values { cancel(call, error) }
    }

    func endAll(_ error: BridgeError) {
        let all = calls.values
        calls = [:]
        for call in all { call.end(.failure(error)) }
    }

    func receive(_ callback: CallbackMessage) {
        guard callback.isValid else {
            return end(
                callback.callbackID,
                .failure(BridgeError(.pluginInvalidReply, "the callback bears neither or both of result and error")))
        }
        do throws(JSONSyntaxError) {
            if let result = callback.result { return end(callback.callbackID, .success(try JSON(parsing: result))) }
            guard let text = callback.error, let error = BridgeError(json: try JSON(parsing: text)) else {
                return end(
                    callback.callbackID,
                    .failure(BridgeError(.pluginInvalidReply, "the callback's error has no code and message")))
            }
            end(callback.callbackID, .failure(error))
        } catch {
            end(callback.callbackID, .failure(BridgeError(.pluginInvalidReply, "the callback is no JSON: \(error)")))
        }
    }

    func receive(_ progress: ProgressMessage) {
        guard let call = find(progress.callbackID), let value = try? JSON(parsing: progress.value) else { return }
        call.progress?.put(value)
    }

    func end(_ id: CallbackID, _ outcome: Result<JSON, BridgeError>) {
        guard let call = find(id) else { return }
        calls[call.id] = nil
        call.end(outcome)
    }

    /// A callback for a call that has ended here is passed over.
    private func find(_ id: CallbackID) -> CallInFlight? {
        guard !id.isString, let number = UInt64(String(decoding: id.text, as: UTF8.self)) else { return nil }
        return calls[number]
    }
}
