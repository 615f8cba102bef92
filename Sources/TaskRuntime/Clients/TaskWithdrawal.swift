import BridgeJSON

/// A job for a client's `bridge.unregister`: processes the names one by one within the user's share of the loop.
/// Nothing changes before all names have been read. Then all are unregistered, even if the call ends meanwhile.
final class TaskWithdrawal: StepJob {
    let session: Session?
    private let clients: ClientTasks
    private let call: CallHandle
    private let provider: Session
    private var unread: NameReader
    private var names: [String] = []
    private var withdrawnCount = 0

    init(_ clients: ClientTasks, _ call: CallHandle, _ session: Session, _ names: NameReader) {
        self.clients = clients
        self.call = call
        self.session = session
        provider = session
        unread = names
    }

    func step(until budget: StepBudget) -> StepOutcome {
        guard withdrawnCount > 0 || clients.calls.call(call) != nil, provider.takesMessages else { return .done }
        do throws(BridgeError) {
            while let (_, name) = try unread.next() {
                names.append(name)
                if budget.isSpent { return .unfinished }
            }
        } catch {
            if let call = clients.calls.call(call) { clients.calls.end(call, .failure(error)) }
            return .done
        }
        while withdrawnCount < names.count {
            clients.unregister(names[withdrawnCount], by: provider)
            withdrawnCount += 1
            if budget.isSpent { return .unfinished }
        }
        guard let call = clients.calls.call(call) else { return .done }
        clients.provided(by: provider).withUnsafeBytes { clients.calls.end(call, .result($0)) }
        return .done
    }
}
