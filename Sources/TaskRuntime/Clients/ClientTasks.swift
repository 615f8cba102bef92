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

    /// The description of the caller, for calls of the daemon or a plugin.
    var ownCallerJSON: JSON {
        ["session": 0, "uid": .number(JSONNumber(UInt64(rights.policy.daemonUID))), "origin": "local", "user": nil]
    }

    /// Returns the client task of a name; `nil` if there is no task of this name.
    ///
    /// - Throws: `task.exists` if the name belongs to a plugin or the daemon.
    func clientTask(named name: String) throws(BridgeError) -> ClientTask? {
        guard let entry = tasks.find(name) else { return nil }
        guard let task = entry.provider as? ClientTask else {
            throw BridgeError(
                .taskExists, "the task \(name) belongs to \(entry.provider.providerName) and cannot be taken")
        }
        return task
    }

    /// Creates a task for clients to provide. It can be called once it is entered.
    func newClientTask(_ name: String) -> (entry: TaskEntry, task: ClientTask) {
        // Options go to the client as text.
        let description = TaskDescription(name: name, summary: "Provided by a client.", optionBytes: .max)
        let task = ClientTask(self)
        return (TaskEntry(description, index: 0, provider: task), task)
    }

    /// Registers a session as a provider of a task.
    ///
    /// - Throws: `task.exists` if the name belongs to a plugin or the daemon.
    func register(_ name: String, by session: Session, _ provision: Provision) throws(BridgeError) {
        let task = try clientTask(named: name)
        register(name, by: session, provision, in: task ?? enter(newClientTask(name)))
    }

    /// Registers a session as a provider of a task that is already entered.
    func register(_ name: String, by session: Session, _ provision: Provision, in task: ClientTask) {
        task.register(session, provision)
        session.setProvides(name, true)
    }

    /// Enters a client task into the registry.
    func enter(_ new: (entry: TaskEntry, task: ClientTask)) -> ClientTask {
        tasks.insert(new.entry)
        return new.task
    }

    /// Removes a session from the providers of a task. Calls that it works on continue.
    func unregister(_ name: String, by session: Session) {
        session.setProvides(name, false)
        guard let entry = tasks.find(name), let task = entry.provider as? ClientTask else { return }
        task.unregister(session)
        if task.isEmpty { tasks.remove(entry) }
    }

    /// Updates the registrations of a session whose identity has changed. Other callers than before may use the tasks
    /// that it provides.
    func reconsider(_ session: Session) {
        for name in session.registrations {
            (tasks.find(name)?.provider as? ClientTask)?.registrations.reconsider(session)
        }
    }

    /// Checks that a subject may provide a task.
    ///
    /// - Throws: `permission.denied`, or `task.exists` if the name belongs to a plugin or the daemon.
    func checkProvision(of name: String, by subject: PolicySubject) throws(BridgeError) {
        let decision = rights.policy.decide(.register, name, for: subject)
        if !decision.isAllowed { throw rights.denial(subject, "provide the task \(name)", decision) }
        _ = try clientTask(named: name)
    }

    /// Returns the tasks that a session provides, as the answer of bridge.register and bridge.unregister.
    func provided(by session: Session) -> [UInt8] {
        let tasks: JSON = ["tasks": .array(session.registrations.sorted().map { .string($0) })]
        return tasks.bytes
    }

    /// Returns the number of bytes that are held for a session's description of a task.
    func heldBytes(of name: String, by session: Session) -> Int {
        (tasks.find(name)?.provider as? ClientTask)?.heldBytes(of: session) ?? 0
    }
}
