import BridgeJSON
import BridgeMessage

/// Routes incoming messages: determines their kind, checks the sender's rights and finds the receiver. Loop thread
/// only.
final class Router {
    let calls: CallEngine
    let output: SessionOutput
    private let sessions: SessionStore
    private let gate: PolicyGate
    private let tasks: TaskRegistry
    private let suggestions: TaskSuggestions
    private let events: EventBus
    private let monitor: TrafficMonitor
    private let counters: RuntimeCounters
    private let turns: LoopTurns
    private let time: CallClock

    init(_ components: RuntimeComponents, _ suggestions: TaskSuggestions, _ calls: CallEngine) {
        self.calls = calls
        self.suggestions = suggestions
        output = components.output
        sessions = components.sessions
        gate = components.gate
        tasks = components.tasks
        events = components.events
        monitor = components.monitor
        counters = components.counters
        turns = components.turns
        time = components.time
    }

    /// Receives one decoded item of a session's input. The memory that it borrows must be valid until this returns.
    func receive(_ item: DecodedItem, from session: Session) {
        switch item {
        case .call(let call):
            counters.values.messages += 1
            session.dialects |= call.pointee.dialect.bit
            receive(call, from: session)
        case .message(let message):
            counters.values.messages += 1
            turns.note(.message, of: session)
            receiveOther(message.pointee, from: session)
            time.noteInputTime()
        case .problem(let problem):
            counters.values.invalidMessages += 1
            turns.note(.line, of: session)
            if !session.hasRefused(problem.pointee) { answer(problem.pointee, to: session) }
            session.noteRefusal(of: problem.pointee)
            time.noteInputTime()
        }
    }

    private func receiveOther(_ message: BridgeMessage, from session: Session) {
        switch message {
        case .callback(let callback): receive(callback, from: session)
        case .progress(let progress): receive(progress, from: session)
        case .cancel(let id):
            if let call = session.index.call(of: id) {
                calls.abort(call, BridgeError(.callCancelled, "the caller cancelled the call"), reason: .caller)
            }
        case .listening(let change): events.receive(change, from: session)
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
        // Not retained: the registry keeps the task as long as the call is in flight.
        let task: Unmanaged<TaskEntry>
        do throws(BridgeError) {
            task = try admit(message, by: session)
        } catch {
            return refuse(message, error, session)
        }
        let now = time.callTime
        task._withUnsafeGuaranteedRef { entry in
            turns.note(.call, entry.number, of: session)
            let call = calls.begin(
                CallRequest(
                    origin: .session, task: task, session: .passUnretained(session),
                    wantsProgress: message.pointee.wantsProgress, dialect: message.pointee.dialect, startedAt: now,
                    deadline: calls.deadline(of: entry, milliseconds: message.pointee.timeoutMilliseconds, from: now)),
                by: session)
            if let id = message.pointee.callbackID { call.record.pointee.id.keep(id) }
            if message.pointee.sessionNumber != CallMessage.anySession {
                call.extras.target = sessions[message.pointee.sessionNumber]
            }
            if message.pointee.dialect == .native {
                calls.dispatch(call, of: entry, options: message.pointee.options)
            } else {
                dispatch(foreign: call, of: entry, message)
            }
        }
    }

    private func refuseDuplicate(_ id: CallbackID, _ session: Session) {
        let error = BridgeError(.callDuplicate, "a call with this callbackId is in flight")
        answer(MessageProblem(error: error, callbackID: id), to: session)
        time.noteInputTime()
    }

    /// Returns the task of a call if the session may call it now; throws otherwise.
    @inline(__always)
    private func admit(_ message: UnsafePointer<CallMessage>, by session: Session) throws(BridgeError)
        -> Unmanaged<TaskEntry>
    {
        let target = message.pointee.sessionNumber
        if target != CallMessage.anySession { _ = try sessions.target(target) }
        if calls.isDraining, !isOfStream(message) { throw Self.draining }
        guard let task = tasks.find(message.pointee.task), !task._withUnsafeGuaranteedRef({ $0.isInternal }) else {
            throw suggestions.notFound(message.pointee.task, for: session)
        }
        try gate.admit(message, of: task, by: session)
        return task
    }

    /// Returns whether the call is about a stream. Such calls are still admitted while the daemon stops.
    private func isOfStream(_ message: UnsafePointer<CallMessage>) -> Bool {
        tasks.find(message.pointee.task)?._withUnsafeGuaranteedRef { $0.stream != nil } == true
    }

    private static var draining: BridgeError {
        BridgeError(
            .daemonStopping, "the daemon is stopping and begins no more calls", data: ["started": false],
            isTransient: true)
    }

    private func refuse(_ message: UnsafePointer<CallMessage>, _ error: BridgeError, _ session: Session) {
        turns.note(.refusal, of: session)
        calls.noteRefusal(of: message.pointee.task, error, session)
        defer { time.noteInputTime() }
        guard let id = message.pointee.callbackID else { return }
        events.catchUp(session)
        let address = CallbackAddress(message.pointee.dialect, id: id.text, task: message.pointee.task)
        output.write(to: session, address.dialect) { MessageEncoder.callback(to: address, error: error, $0) }
    }

    // MARK: Problems

    /// Answers a message with an error. If a call with its id is in flight, the error must not be taken for the call's
    /// end: the id is then in the error's data. A call that the message was intended to end, ends with an error.
    func answer(_ problem: MessageProblem, to session: Session) {
        if monitor.isWatched { monitor.showRefusal(of: nil, problem.error, session) }
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
        // Items of a JSON-RPC batch are answered within it.
        let around = session.openBatch == nil ? session.dialect(of: problem) : .jsonRPC
        let dialect = problem.dialect ?? problem.callbackID?.dialect ?? around
        var address = CallbackAddress(dialect, id: id, task: UnsafeRawBufferPointer(start: nil, count: 0))
        address.isNotJSON = problem.isNotJSON
        events.catchUp(session)
        output.write(to: session, dialect) { MessageEncoder.callback(to: address, error: error, $0) }
        if let answered {
            let reason = "the provider's answer cannot be read: \(problem.error.message)"
            calls.end(answered, error: BridgeError(.replyInvalid, reason))
        }
    }
}
