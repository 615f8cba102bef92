/// The registrations of one task. Most tasks have one provider, which is stored without an index, because clients
/// register hundreds of tasks in one message. Loop thread only.
struct Registrations {
    /// The registration of a task with one provider; `nil` if the task has no provider or uses ``lists``.
    private var only: Registration?
    /// The registrations of a task that has had several providers; `nil` if the task has no provider or uses ``only``.
    private var lists: RegistrationLists?
    private var lastOrder: UInt64 = 0

    var isEmpty: Bool { only == nil && lists == nil }
    /// All registrations, the newest last. Used once, when the daemon ends.
    var all: [Registration] { only.map { [$0] } ?? lists?.all ?? [] }
    /// Whether any of the registrations takes calls. Only the first 64 are checked, as this only selects the text of an
    /// error.
    var haveOpen: Bool { only?.isOpen ?? lists?.haveOpen ?? false }
    /// The number of registrations examined so far in ``lists``. For tests.
    var visits: Int { lists?.visits ?? 0 }

    subscript(session: Session) -> Registration? {
        if let only { return only.session === session ? only : nil }
        return lists?[session]
    }

    /// Registers a session that is not registered, as the newest.
    mutating func insert(_ session: Session, _ provision: Provision) {
        lastOrder += 1
        let made = Registration(session, provision, order: lastOrder)
        if isEmpty {
            only = made
        } else if let first = only {
            only = nil
            lists = RegistrationLists(first, made)
        } else {
            lists?.insert(made)
        }
    }

    mutating func remove(_ session: Session) -> Registration? {
        if let left = only {
            guard left.session === session else { return nil }
            only = nil
            return left
        }
        defer { if lists?.isEmpty == true { lists = nil } }
        return lists?.remove(session)
    }

    /// Returns the newest registration that takes calls of any caller.
    mutating func newest() -> Registration? {
        if let only { return only.takesOthers ? only : nil }
        return lists?.newest()
    }

    /// Returns the newest registration of an owner that takes calls of this owner.
    mutating func newest(of owner: ProviderOwner) -> Registration? {
        if let only { return only.takesOthers && only.owner == owner && only.takesOwners ? only : nil }
        return lists?.newest(of: owner)
    }

    /// Returns the newest registration that the policy allows to serve others.
    mutating func newestServing(_ task: String, _ rights: Rights) -> Registration? {
        if let only { return only.takesOthers && only.mayServe(task, rights).isAllowed ? only : nil }
        return lists?.newestServing(task, rights)
    }

    /// Checks a session again whose identity, and possibly rights, have changed.
    mutating func reconsider(_ session: Session) { lists?.reconsider(session) }
}
