import BridgeJSON
import BridgeMessage

/// The outcome of a call of a daemon's task, once the members of its options are known.
enum TaskAnswer {
    /// The call's result.
    case result(JSON)
    /// A job for the call's session, which ends the call.
    case job(any StepJob)
    /// The call ends later, or has ended.
    case later
}

extension TaskRuntime {
    /// A closure that uses members of options. They are valid until it returns.
    typealias MembersHandler = (Call, OptionMembers) throws(BridgeError) -> TaskAnswer

    /// Finds members of options and passes them to `body`: immediately, or in steps if a session's options are long.
    ///
    /// - Returns: The call's result; `nil` if the call ends later.
    /// - Throws: `options.invalid` if the options are no object, and errors of `body`.
    func withMembers(
        _ names: [StaticString], of options: UnsafeRawBufferPointer, for call: Call, _ body: @escaping MembersHandler
    ) throws(BridgeError) -> JSON? {
        if options.count > MemberWalk.longBytes, let session = call.session {
            components.steps.begin(
                LongOptions(calls, call.handle, session, names, MemberWalk(options), body), for: session.account)
            return nil
        }
        switch try body(call, OptionMembers(names, of: options, calls.check)) {
        case .result(let result): return result
        case .job(let job):
            if let session = job.session { components.steps.begin(job, for: session.account) }
            return nil
        case .later: return nil
        }
    }
}

/// A job that finds the members of the long options of a call of a daemon's task.
private final class LongOptions: StepJob {
    let session: Session?
    private let calls: CallEngine
    private let call: CallHandle
    private var members: OptionMembers
    private let walk: MemberWalk
    private let body: TaskRuntime.MembersHandler
    /// The job that `body` returned; `nil` before it was called.
    private var successor: (any StepJob)?

    init(
        _ calls: CallEngine, _ call: CallHandle, _ session: Session, _ names: [StaticString], _ walk: MemberWalk,
        _ body: @escaping TaskRuntime.MembersHandler
    ) {
        self.calls = calls
        self.call = call
        self.session = session
        members = OptionMembers(names)
        self.walk = walk
        self.body = body
    }

    func step(until budget: StepBudget) -> StepOutcome {
        if let successor { return successor.step(until: budget) }
        // No caller waits for a call that was cancelled.
        guard let call = calls.call(call) else { return .done }
        while !walk.step() {
            if budget.isSpent { return .unfinished }
        }
        do throws(BridgeError) {
            while try !members.takeNext(of: walk) {
                if budget.isSpent { return .unfinished }
            }
            switch try body(call, members) {
            case .result(let result): result.bytes.withUnsafeBytes { calls.end(call, .result($0)) }
            case .job(let job):
                successor = job
                return job.step(until: budget)
            case .later: break
            }
        } catch {
            calls.end(call, .failure(error))
        }
        return .done
    }
}
