import BridgeJSON
import BridgeMessage
import EventLoop

/// The calls that this client makes.
@LoopActor
final class CallsInFlight {
    /// How long this client still waits for the daemon's report after a call's own timeout.
    var grace = Duration.seconds(2)

    private let link: Link
    /// The calls that have been sent.
    private var calls: [UInt64: CallInFlight] = [:]
    /// The calls that have not been sent.
    private var waiting: WaitingCalls
    /// The calls that will be made again after a pause, each with the error of its last attempt.
    private var pausing: [UInt64: (call: CallInFlight, error: BridgeError)] = [:]
    private var lastID: UInt64 = 0
    /// The tasks of calls that have ended here, but whose results may still arrive with descriptors.
    private var abandoned: [UInt64: PassingTask] = [:]
    /// The number of these tasks, for tests.
    var abandonedCount: Int { abandoned.count }

    init(_ link: Link) {
        self.link = link
        waiting = WaitingCalls(link.configuration.reconnect)
    }

    // MARK: Making calls

    func call(_ request: CallRequest) async throws(BridgeError) -> JSON {
        try await outcome(of: try await begin(request, .plain))
    }

    /// Waits for a call's end. If the Swift task is cancelled, so is the call.
    func outcome(of call: CallInFlight) async throws(BridgeError) -> JSON {
        guard let outcome = await call.wait() else {
            let error = BridgeError.cancelledHere(call.request.task, started: hasStarted(call))
            cancel(call, error)
            throw error
        }
        return try outcome.get()
    }

    /// Sends a call, or queues it until there is a connection.
    func begin(_ request: CallRequest, _ kind: CallKind = .withProgress) async throws(BridgeError) -> CallInFlight {
        guard !request.task.isEmpty else {
            throw BridgeError(.taskNotFound, "a call needs the name of a task; bridge.tasks lists the tasks")
        }
        if Task.isCancelled { throw .cancelledHere(request.task, started: false) }
        let call = make(request, kind)
        do throws(BridgeError) {
            try await dispatch(call)
        } catch {
            guard repeatLater(call, after: error) else { throw error }
        }
        return call
    }

    /// Whether the call has started; `nil` if this is unknown.
    private func hasStarted(_ call: CallInFlight) -> Bool? {
        if let (_, error) = pausing[call.id] { return error.started }
        return call.connection == nil ? false : nil
    }

    /// Sends a call that is not answered.
    func notify(_ request: CallRequest) async throws(BridgeError) {
        _ = try await outcome(of: try await begin(request, .oneWay))
    }

    /// Makes a call at the start of a connection: before other calls may use it, and over no other connection.
    func call(_ request: CallRequest, over connection: ClientConnection) async throws(BridgeError) -> JSON {
        let call = make(request, .plain, isOfConnection: true)
        if let failure = connection.failure { throw failure }
        try send(call, over: connection)
        return try await outcome(of: call)
    }

    private func make(_ request: CallRequest, _ kind: CallKind, isOfConnection: Bool = false) -> CallInFlight {
        lastID += 1
        return CallInFlight(
            id: lastID, request, kind, isOfConnection: isOfConnection, at: link.timers.now,
            maximumProgress: link.limits.maximumQueuedProgress)
    }

    /// Sends the call when the output has room, and ends it if there is none before its deadline. If there is no
    /// connection, the call waits in this client.
    private func dispatch(_ call: CallInFlight) async throws(BridgeError) {
        let task = call.request.task
        while call.outcome == nil {
            if let end = link.end { throw end.ending(task, started: false) }
            guard let connection = link.openConnection else { return try wait(call) }
            if connection.hasRoom { return try send(call, over: connection) }
            call.arm(deadline(of: call, withoutRoomIn: connection))
            do throws(BridgeError) {
                try await connection.waitForRoom(for: task) { call.outcome != nil }
            } catch {
                // If the connection was lost meanwhile, the call is sent over the next one.
                if connection.failure == nil {
                    call.arm(nil)
                    throw error
                }
            }
        }
    }

    /// `nil` if the call may wait as long as its caller does.
    private func deadline(of call: CallInFlight, withoutRoomIn connection: ClientConnection) -> (any ClientTimer)? {
        call.timeoutLeft(at: link.timers.now).map { left in
            link.timers.after(left) { [weak call, weak connection] in
                guard let call else { return }
                let error = BridgeError(
                    .callTimeout,
                    "the daemon read nothing before the deadline of the call of \(call.request.task), which waits to "
                        + "be sent",
                    data: ["started": false], isTransient: true)
                call.end(.failure(error))
                connection?.lookAgain()
            }
        }
    }

    /// - Throws: `message.too_large`, so that the daemon need not discard the message.
    private func send(_ call: CallInFlight, over connection: ClientConnection) throws(BridgeError) {
        let now = link.timers.now
        let message = call.message(at: now)
        // The line end does not count.
        let lineBytes = message.count - 1
        guard lineBytes <= connection.messageBytes else {
            throw BridgeError(
                .messageTooLarge,
                "the call of \(call.request.task) has \(lineBytes) bytes; the daemon's maximum is "
                    + "\(connection.messageBytes): \(BridgeError.goesAsStream)",
                data: ["started": false])
        }
        call.wasSent(over: connection)
        connection.send { $0.append(message.bytes) }
        if call.kind == .oneWay { return call.end(.success(.null)) }
        calls[call.id] = call
        call.arm(call.timeoutLeft(at: now).map { deadline(of: call, in: $0 + grace) })
    }

    private func deadline(of call: CallInFlight, in delay: Duration) -> any ClientTimer {
        link.timers.after(delay) { [weak self, weak call] in
            guard let self, let call else { return }
            let error = BridgeError(
                .callTimeout,
                "the daemon sent neither a callback of \(call.request.task) nor its timeout",
                isTransient: true)
            cancel(call, error)
        }
    }

    // MARK: Waiting for a connection

    /// - Throws: `busy`.
    private func wait(_ call: CallInFlight) throws(BridgeError) {
        let now = link.timers.now
        let maximumWait = link.configuration.reconnect?.maximumWait ?? .zero
        try waiting.append(call, messageBytes: call.message(at: now).count)
        call.waitsAgain()
        call.arm(
            link.timers.after(call.latestSending(maximumWait: maximumWait) - now) { [weak self, weak call] in
                guard let self, let call else { return }
                cancel(call, overdue(call, maximumWait))
            })
    }

    private func overdue(_ call: CallInFlight, _ maximumWait: Duration) -> BridgeError {
        guard call.request.timeout == nil else {
            return BridgeError(
                .callTimeout,
                "there was no connection to the daemon before the deadline of the call of \(call.request.task)",
                data: ["started": false], isTransient: true)
        }
        return .unreachable(link.path, "the connection was lost and not restored for \(maximumWait)")
            .ending(call.request.task, started: false)
    }

    /// Sends the waiting calls, in their order, over a new connection.
    func sendWaiting(over connection: ClientConnection) {
        for call in waiting.takeAll() {
            do throws(BridgeError) {
                try send(call, over: connection)
            } catch {
                call.end(.failure(error))
            }
        }
    }

    // MARK: Making calls again

    /// Schedules a failed call to be made again after a pause. Returns whether it will be.
    private func repeatLater(_ call: CallInFlight, after error: BridgeError) -> Bool {
        guard link.end == nil, let pause = call.pause(after: error, chance: link.random(), at: link.timers.now) else {
            return false
        }
        call.waitsAgain()
        pausing[call.id] = (call, error)
        call.arm(
            link.timers.after(pause) { [weak self, weak call] in
                guard let self, let call, pausing.removeValue(forKey: call.id) != nil else { return }
                // Ends when the call is sent, or has ended.
                Task { await self.dispatchAgain(call) }
            })
        return true
    }

    private func dispatchAgain(_ call: CallInFlight) async {
        do throws(BridgeError) {
            try await dispatch(call)
        } catch {
            fail(call, error)
        }
    }

    // MARK: Ending calls

    /// Ends a call whose attempt has failed, unless it is made again.
    private func fail(_ call: CallInFlight, _ error: BridgeError) {
        if !repeatLater(call, after: error) { call.end(.failure(error)) }
    }

    /// Ends a call here, and at the daemon if it was sent. Does nothing if the call has ended.
    func cancel(_ call: CallInFlight, _ error: BridgeError) {
        if calls.removeValue(forKey: call.id) != nil {
            abandoned[call.id] = PassingTask(call.request)
            call.connection?.send { MessageEncoder.cancel(id: call.id, to: $0) }
        } else if !waiting.remove(call) {
            pausing[call.id] = nil
        }
        call.end(.failure(error))
    }

    /// Ends all calls because this client closes. Sent messages are still delivered.
    func cancelAll(_ error: BridgeError) {
        endWaiting(error)
        for call in calls.values { cancel(call, error.ending(call.request.task, started: true)) }
    }

    /// Ends the calls that were sent over a lost connection.
    func lost(_ connection: ClientConnection, _ reason: BridgeError) {
        abandoned = [:]
        for call in calls.values where call.connection === connection {
            calls[call.id] = nil
            fail(call, reason.ending(call.request.task, started: call.mayHaveStarted))
        }
    }

    /// Ends the calls that wait for a connection or for their next attempt: no other connection will follow.
    func endWaiting(_ reason: BridgeError) {
        for (call, error) in pausing.values { call.end(.failure(error)) }
        pausing = [:]
        for call in waiting.takeAll() { call.end(.failure(reason.ending(call.request.task, started: false))) }
    }

    func receive(_ callback: CallbackMessage, from connection: ClientConnection) {
        takeDescriptor(of: callback, from: connection)
        guard callback.isValid else {
            return end(
                callback.callbackID,
                .failure(BridgeError(.replyInvalid, "the callback must have exactly one of result and error")))
        }
        do throws(JSONSyntaxError) {
            if let result = callback.result { return end(callback.callbackID, .success(try JSON(parsing: result))) }
            guard let text = callback.error, let error = BridgeError(json: try JSON(parsing: text)) else {
                return end(
                    callback.callbackID,
                    .failure(BridgeError(.replyInvalid, "the callback's error has no code and message")))
            }
            end(callback.callbackID, .failure(error))
        } catch {
            end(callback.callbackID, .failure(BridgeError(.replyInvalid, "the callback is not valid JSON: \(error)")))
        }
    }

    /// Descriptors arrive in the order of their results, also for calls that have ended here.
    private func takeDescriptor(of callback: CallbackMessage, from connection: ClientConnection) {
        guard let id = callback.callbackID.number else { return }
        let task = abandoned.removeValue(forKey: id) ?? calls[id].flatMap { PassingTask($0.request) }
        guard let task, let result = callback.result, task.passesDescriptor(with: result) else { return }
        let descriptor = connection.takeDescriptor()
        // A descriptor that the call does not want is closed.
        if let call = calls[id], call.kind == .withDescriptor { call.descriptor = descriptor }
    }

    func receive(_ progress: ProgressMessage) {
        guard let call = find(progress.callbackID), let value = try? JSON(parsing: progress.value) else { return }
        call.progress?.put(value)
    }

    func end(_ id: CallbackID, _ outcome: Result<JSON, BridgeError>) {
        guard let call = find(id) else { return }
        calls[call.id] = nil
        guard case .failure(let error) = outcome else { return call.end(outcome) }
        if error.isRefusalOfStoppingDaemon, !call.isOfConnection, link.hold(), (try? wait(call)) != nil { return }
        fail(call, error)
    }

    /// Returns the call of a callback; `nil` if it has ended here: the callback is then ignored.
    private func find(_ id: CallbackID) -> CallInFlight? { id.number.flatMap { calls[$0] } }
}
