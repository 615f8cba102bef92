import BridgeJSON

/// The tasks that clients provide. Loop thread only.
final class ClientTasks {
    let calls: CallEngine
    let rights: Rights
    let quotas: Quotas
    private let tasks: TaskRegistry

    init(_ calls: CallEngine) {
        self.calls = calls
        rights = calls.rights
        quotas = calls.quotas
        tasks = calls.tasks
    }

    /// Who calls, where it is the daemon or one of its plugins.
    var ownCallerJSON: JSON {
        ["session": 0, "uid": .number(JSONNumber(UInt64(rights.policy.daemonUID))), "origin": "local", "user": nil]
    }

    /// The task of a name that clients provide; nil: there is no task of the name.
    ///
    /// - Throws: `task.exists`, where the name is a plugin's or the daemon's.
    func clientTask(named name: String) throws(BridgeError) -> ClientTask? {
        guard let entry = tasks.find(name) else { return nil }
        guard let task = entry.provider as? ClientTask else {
            throw BridgeError(
                .taskExists, "the task \(name) belongs to \(entry.provider.providerName) and cannot be taken")
        }
        return task
    }

    /// A new task for clients to provide, which can be called once it is entered.
    func newClientTask(_ name: String) -> (entry: TaskEntry, task: ClientTask) {
        // Options go to the client as text.
        let description = TaskDescription(name: name, summary: "Provided by a client.", optionBytes: .max)
        let task = ClientTask(self)
        return (TaskEntry(description, index: 0, provider: task), task)
    }

    /// The session provides a task from now on.
    ///
    /// - Throws: `task.exists`, where the name is a plugin's or the daemon's.
    func register(_ name: String, by session: Session, _ provision: Provision) throws(BridgeError) {
        let task = try clientTask(named: name)
        register(name, by: session, provision, in: task ?? enter(newClientTask(name)))
    }

    /// The session provides a task from now on, which is entered.
    func register(_ name: String, by session: Session, _ provision: Provision, in task: ClientTask) {
        task.register(session, provision)
        session.setProvides(name, true)
    }

    /// Enters a task of clients.
    func enter(_ new: (entry: TaskEntry, task: ClientTask)) -> ClientTask {
        tasks.insert(new.entry)
        return new.task
    }

    /// The session no longer provides the task. Calls that it works on go on.
    func unregister(_ name: String, by session: Session) {
        session.setProvides(name, false)
        guard let entry = tasks.find(name), let task = entry.provider as? ClientTask else { return }
        task.unregister(session)
        if task.isEmpty { tasks.remove(entry) }
    }

    /// The session's identity has changed: the tasks that it provides may go to others than before.
    func reconsider(_ session: Session) {
        for name in session.registrations {
            (tasks.find(name)?.provider as? ClientTask)?.registrations.reconsider(session)
        }
    }

    /// - Throws: `permission.denied`, and `task.exists` where the name is no client's.
    func checkProvision(of name: String, by subject: PolicySubject) throws(BridgeError) {
        let decision = rights.policy.decide(.register, name, for: subject)
        if !decision.isAllowed { throw rights.denial(subject, "provide the task \(name)", decision) }
        _ = try clientTask(named: name)
    }

    /// What a session provides, as bridge.register and bridge.unregister answer it.
    func provided(by session: Session) -> [UInt8] {
        let tasks: JSON = ["tasks": .array(session.registrations.sorted().map { .string($0) })]
        return tasks.bytes
    }

    /// What is held for what a session says of a task.
    func heldBytes(of name: String, by session: Session) -> Int {
        (tasks.find(name)?.provider as? ClientTask)?.heldBytes(of: session) ?? 0
    }
}
