import BridgeJSON
import BridgeMessage

/// The checks before a call begins: rights first, then quotas. Loop thread only.
final class PolicyGate {
    /// The rights of clients.
    let rights: Rights
    /// The quotas of users.
    let quotas: Quotas

    init(_ rights: Rights, _ quotas: Quotas) {
        self.rights = rights
        self.quotas = quotas
    }

    /// Admits a session's call of a task. An admitted call counts against the rates.
    ///
    /// - Throws: `permission.denied`; `task.not_found` if the session that the call names does not provide the task;
    ///   `busy` if a quota is reached.
    @inline(__always)
    func admit(
        _ message: UnsafePointer<CallMessage>, of task: Unmanaged<TaskEntry>, by session: Session
    ) throws(BridgeError) {
        guard task._withUnsafeGuaranteedRef({ rights.mayCall($0, session) }) else {
            throw rights.callDenial(task.takeUnretainedValue(), session)
        }
        let target = message.pointee.sessionNumber
        if target != CallMessage.anySession { try checkAddress(task.takeUnretainedValue(), of: target, by: session) }
        // This is the last check, so that a call refused for another reason counts against no rate.
        try quotas.admit(message, of: task, by: session)
    }

    private func checkAddress(_ task: TaskEntry, of number: UInt64, by session: Session) throws(BridgeError) {
        if number != session.number {
            try rights.check(
                .address, task.name, by: session, to: "name the session that a call of \(task.name) goes to")
        }
        guard !task.provider.isOfClients else { return }
        throw BridgeError(.taskNotFound, "session \(number) provides no task \(task.name)")
    }
}
