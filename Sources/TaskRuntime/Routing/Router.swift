import BridgeJSON
public import BridgeMessage

// The way of a message into the runtime: what it is, who may send it, and whom it is for.
extension TaskRuntime {
    /// Takes in one decoded item of a session's input. What it borrows need only last until this returns.
    public func receive(_ item: DecodedItem, from session: Session) {
        switch item {
        case .call(let call):
            counters.messages += 1
            session.dialects |= call.pointee.dialect.bit
            receive(call, from: session)
        case .message(let message):
            counters.messages += 1
            noteStep(.message, of: session)
            receiveOther(message.pointee, from: session)
            noteInputTime()
        case .problem(let problem):
            counters.invalidMessages += 1
            noteStep(.line, of: session)
            if !session.hasRefused(problem.pointee) { answer(problem.pointee, to: session) }
            session.noteRefusal(of: problem.pointee)
            noteInputTime()
        }
    }

    private func receiveOther(_ message: BridgeMessage, from session: Session) {
        switch message {
        case .callback(let callback): receive(callback, from: session)
        case .progress(let progress): receive(progress, from: session)
        case .cancel(let id):
            if let call = session.index.call(of: id) {
                abort(call, BridgeError(.callCancelled, "the caller cancelled the call"), reason: .caller)
            }
        case .listening(let change): receive(change, from: session)
        case .event:
            let error = BridgeError(.messageInvalid, "a client sends events with the task bridge.publish")
            answer(MessageProblem(error: error, callbackID: nil), to: session)
        }
    }

    // MARK: Calls

    @inline(__always)
    private func receive(_ message: UnsafePointer<CallMessage>, from session: Session) {
        if session.index.count > 0, let id = message.pointee.callbackID, session.index.call(of: id) != nil {
            return refuseDuplicate(id, session)
        }
        // Not retained: the registry keeps it for as long as the call is in flight.
        let task: Unmanaged<TaskEntry>
        do throws(BridgeError) {
            task = try admit(message, by: session)
        } catch {
            return refuse(message, error, session)
        }
        let now = callTime
        task._withUnsafeGuaranteedRef { entry in
            noteStep(.call, entry.number, of: session)
            let call = calls.begin(
                CallRequest(
                    origin: .session, task: task, session: .passUnretained(session),
                    wantsProgress: message.pointee.wantsProgress, dialect: message.pointee.dialect, startedAt: now,
                    deadline: deadline(of: entry, milliseconds: message.pointee.timeoutMilliseconds, from: now)))
            if let id = message.pointee.callbackID { call.record.pointee.id.keep(id) }
            if message.pointee.sessionNumber != CallMessage.anySession {
                call.extras.target = sessions[message.pointee.sessionNumber]
            }
            session.callsInFlight += 1
            session.madeCalls.append(call)
            session.unownedAccount._withUnsafeGuaranteedRef { $0.callsInFlight += 1 }
            session.callsMade &+= 1
            clientCallsInFlight += 1
            if message.pointee.dialect == .native {
                dispatch(call, of: entry, options: message.pointee.options)
            } else {
                dispatchForeign(call, of: entry, message)
            }
        }
    }

    private func refuseDuplicate(_ id: CallbackID, _ session: Session) {
        let error = BridgeError(.callDuplicate, "a call with this callbackId is in flight")
        answer(MessageProblem(error: error, callbackID: id), to: session)
        noteInputTime()
    }

    /// Hands a call to its provider; where it does not end at once, its id and its deadline count from here on.
    func dispatch(_ call: Call, of task: TaskEntry, options: UnsafeRawBufferPointer) {
        let handle = call.handle
        noteBegin(of: call, task, options: options)
        start(call, of: task, options: options)
        settle(call, handle, options.count)
    }

    /// Begins a call's work, unless its options do not fit; where its task has interceptors, these come first.
    @inline(__always)
    func start(_ call: Call, of task: TaskEntry, options: UnsafeRawBufferPointer) {
        guard options.count <= task.optionBytes else { return refuseLength(of: call, options.count, task.optionBytes) }
        if task.interceptors != nil { return intercept(call, of: task, options: options) }
        if let check = task.optionsCheck, !fits(call, options, check) { return }
        task.provider.start(call, of: task, options: options)
    }

    func refuseLength(of call: Call, _ bytes: Int, _ maximumBytes: Int) {
        do throws(BridgeError) { try Self.checkLength(bytes, maximumBytes) } catch { end(call, error: error) }
    }

    /// - Throws: `options.invalid`, where options are longer than their task takes.
    static func checkLength(_ bytes: Int, _ maximumBytes: Int) throws(BridgeError) {
        guard bytes > maximumBytes else { return }
        throw BridgeError(
            JSONMismatch(path: "$", expected: "at most \(maximumBytes) bytes of options", got: "\(bytes) bytes"))
    }

    @inline(__always)
    func noteBegin(of call: Call, _ task: TaskEntry, options: UnsafeRawBufferPointer) {
        task.statistics.calls += 1
        task.statistics.inFlight += 1
        if isMonitored { showBegin(of: call, task, options: options) }
    }

    /// Enters a call that has not ended at once.
    @inline(__always)
    func settle(_ call: Call, _ handle: CallHandle, _ optionsBytes: Int) {
        guard call.handle == handle, call.state != .free else { return }
        // Where it has ended, that has read the clock.
        noteInputTime()
        if optionsBytes >= Self.countedOptionsBytes { hold(optionsBytes, for: call) }
        calls.park(call)
        if call.origin == .session, call.hasID { call.session?.index.insert(call) }
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
    @inline(__always)
    private func admit(_ message: UnsafePointer<CallMessage>, by session: Session) throws(BridgeError)
        -> Unmanaged<TaskEntry>
    {
        let target = message.pointee.sessionNumber
        if target != CallMessage.anySession { _ = try targetSession(target) }
        if isDraining { throw Self.draining }
        guard let task = registry.find(message.pointee.task), !task._withUnsafeGuaranteedRef({ $0.isInternal }) else {
            throw notFound(message.pointee.task, for: session)
        }
        guard task._withUnsafeGuaranteedRef({ mayCall($0, session) }) else {
            throw callDenial(task.takeUnretainedValue(), session)
        }
        if target != CallMessage.anySession { try checkAddress(task.takeUnretainedValue(), of: target, by: session) }
        // Last: a call that is refused for another reason counts against no rate.
        try checkCallQuotas(message, of: task, by: session)
        return task
    }

    private static var draining: BridgeError {
        BridgeError(
            .daemonStopping, "the daemon is stopping and begins no more calls", data: ["started": false],
            isTransient: true)
    }

    private func checkAddress(_ task: TaskEntry, of number: UInt64, by session: Session) throws(BridgeError) {
        if number != session.number {
            try check(.address, task.name, by: session, to: "name the session that a call of \(task.name) goes to")
        }
        guard !(task.provider is ClientTask) else { return }
        throw BridgeError(.taskNotFound, "session \(number) provides no task \(task.name)")
    }

    /// - Parameter milliseconds: what the caller says; 0: it does not say.
    func deadline(of task: TaskEntry, milliseconds: UInt64, from now: RuntimeInstant) -> RuntimeInstant {
        // A message bears a year at the most, which is far from the bounds of 64 bits.
        if milliseconds > 0 { return now.advanced(byNanoseconds: milliseconds &* 1_000_000) }
        return now.advanced(byNanoseconds: task.timeoutNanoseconds ?? standardTimeoutNanoseconds)
    }

    private func refuse(_ message: UnsafePointer<CallMessage>, _ error: BridgeError, _ session: Session) {
        noteStep(.refusal, of: session)
        noteRefusal(of: message.pointee.task, error, session)
        defer { noteInputTime() }
        guard let id = message.pointee.callbackID else { return }
        let address = CallbackAddress(message.pointee.dialect, id: id.text, task: message.pointee.task)
        write(to: session, address.dialect) { MessageEncoder.callback(to: address, error: error, $0) }
    }

    /// A call was not begun.
    ///
    /// - Parameter session: whose call it is; nil: a plugin's.
    func noteRefusal(of task: UnsafeRawBufferPointer, _ error: BridgeError, _ session: Session?) {
        counters.refusedCalls += 1
        if isMonitored { showRefusal(of: String(decoding: task.prefix(256), as: UTF8.self), error, session) }
    }

    // MARK: Problems

    /// Answers an error about a message. Where a call of that id is in flight, the error must not pass for its end:
    /// the id then stands in the error's data. A call that the message was to be the end of ends with an error.
    func answer(_ problem: MessageProblem, to session: Session) {
        if isMonitored { showRefusal(of: nil, problem.error, session) }
        if let dialect = problem.dialect { session.dialects |= dialect.bit }
        var error = problem.error
        var id = problem.callbackID?.text
        let answered = problem.isReply ? problem.callbackID.flatMap { forwardedCall($0, session) } : nil
        if let callbackID = problem.callbackID, answered != nil || session.index.call(of: callbackID) != nil {
            var data = error.data?.objectValue ?? [:]
            data["callbackId"] = try? JSON(parsing: callbackID.text)
            error.data = .object(data)
            id = nil
        }
        // What stands in a batch of JSON-RPC's is answered within it.
        let around = session.openBatch == nil ? session.dialect(of: problem) : .jsonRPC
        let dialect = problem.dialect ?? problem.callbackID?.dialect ?? around
        var address = CallbackAddress(dialect, id: id, task: UnsafeRawBufferPointer(start: nil, count: 0))
        address.isNotJSON = problem.isNotJSON
        write(to: session, dialect) { MessageEncoder.callback(to: address, error: error, $0) }
        if let answered {
            let reason = "the provider's answer cannot be read: \(problem.error.message)"
            end(answered, error: BridgeError(.replyInvalid, reason))
        }
    }
}
