import BridgeJSON
public import BridgeMessage

// The way of a message into the runtime: what it is, who may send it, and whom it is for.
extension TaskRuntime {
    /// Takes in one decoded item of a session's input. What it borrows need only last until this returns.
    public func receive(_ item: DecodedItem, from session: Session) {
        switch item {
        case .message(.call(let call)):
            statistics.messages += 1
            receive(call, from: session)
        case .message(let message):
            statistics.messages += 1
            receiveOther(message, from: session)
        case .problem(let problem):
            statistics.invalidMessages += 1
            answer(problem, to: session)
        }
    }

    private func receiveOther(_ message: BridgeMessage, from session: Session) {
        switch message {
        case .call: break
        case .callback(let callback): receive(callback, from: session)
        case .progress(let progress): receive(progress, from: session)
        case .cancel(let id):
            if let call = session.index.call(of: id) {
                abort(call, BridgeError(.callCancelled, "the caller cancelled the call"), reason: .caller)
            }
        case .event:
            let error = BridgeError(.messageInvalid, "a client sends events with the task bridge.publish")
            answer(MessageProblem(error: error, callbackID: nil), to: session)
        }
    }

    // MARK: Calls

    private func receive(_ message: CallMessage, from session: Session) {
        if let id = message.callbackID, session.index.call(of: id) != nil {
            let error = BridgeError(.callDuplicate, "a call with this callbackId is in flight")
            return answer(MessageProblem(error: error, callbackID: id), to: session)
        }
        let task: TaskEntry
        let target: Session?
        do throws(BridgeError) {
            target = try targetSession(message.session)
            task = try admit(message, by: session)
            if let target, !(task.provider is ClientTask) {
                throw BridgeError(.taskNotFound, "session \(target.number) provides no task \(task.name)")
            }
        } catch {
            return refuse(message, error, session)
        }
        let now = clock.now
        let call = calls.begin(
            Call.Request(
                origin: .session(session), task: task, id: message.callbackID, wantsProgress: message.wantsProgress,
                startedAt: now, deadline: deadline(of: task, message.timeout, from: now), target: target))
        session.callsInFlight += 1
        clientCallsInFlight += 1
        dispatch(call, options: message.options)
    }

    /// Hands a call to its provider; where it does not end at once, its id and its deadline count from here on.
    func dispatch(_ call: Call, options: UnsafeRawBufferPointer) {
        guard let task = call.task else { return }
        let handle = call.handle
        task.statistics.calls += 1
        task.statistics.inFlight += 1
        task.provider.start(call, options: options)
        guard calls.call(handle) != nil else { return }
        calls.park(call)
        if case .session(let session) = call.origin, call.hasID { session.index.insert(call) }
        armClock()
    }

    func targetSession(_ number: UInt64?) throws(BridgeError) -> Session? {
        guard let number else { return nil }
        guard let session = sessions[number], !session.hasEndedInput else {
            throw BridgeError(.sessionNotFound, "there is no session \(number)")
        }
        return session
    }

    /// The task of a call, where the session may call it now.
    private func admit(_ message: CallMessage, by session: Session) throws(BridgeError) -> TaskEntry {
        if isDraining {
            throw BridgeError(
                .shuttingDown, "the daemon is stopping and begins no more calls", data: ["started": false],
                isTransient: true)
        }
        guard let task = registry.find(message.task), !task.isInternal else { throw notFound(message.task) }
        if case .denied(let rule) = policy.call(task, by: session) {
            throw BridgeError(
                .permissionDenied, "uid \(session.peer.uid) may not call \(task.name)",
                data: ["rule": .string(rule)])
        }
        guard session.callsInFlight < limits.callsInFlight else {
            throw BridgeError(
                .busy, "the session has \(limits.callsInFlight) calls in flight, as many as it may",
                isTransient: true, retryAfter: .milliseconds(100))
        }
        return task
    }

    func notFound(_ name: UnsafeRawBufferPointer) -> BridgeError {
        let name = String(decoding: name.prefix(256), as: UTF8.self)
        return BridgeError(.taskNotFound, "there is no task \(name); bridge.tasks lists those that there are")
    }

    func deadline(of task: TaskEntry, _ timeout: Duration?, from now: RuntimeInstant) -> RuntimeInstant? {
        if let timeout { return now.advanced(by: timeout) }
        switch task.description.deadline {
        case .standard: return now.advanced(by: limits.callTimeout)
        case .after(let duration): return now.advanced(by: duration)
        case .none: return nil
        }
    }

    private func refuse(_ message: CallMessage, _ error: BridgeError, _ session: Session) {
        guard let id = message.callbackID else { return }
        MessageEncoder.callback(id: id.text, error: error, to: session.output)
        markDirty(session)
    }

    // MARK: Problems

    /// Answers an error about a message. Where a call of that id is in flight, the error must not pass for its end:
    /// the id then stands in the error's data.
    func answer(_ problem: MessageProblem, to session: Session) {
        var error = problem.error
        var id = problem.callbackID?.text
        if let callbackID = problem.callbackID, session.index.call(of: callbackID) != nil {
            var data = error.data?.objectValue ?? [:]
            data["callbackId"] = try? JSON(parsing: callbackID.text)
            error.data = .object(data)
            id = nil
        }
        MessageEncoder.callback(id: id, error: error, to: session.output)
        markDirty(session)
    }
}
