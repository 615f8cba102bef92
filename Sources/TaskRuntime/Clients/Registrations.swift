/// The sessions that provide one task. Most tasks have one provider, which is kept without an index: clients register
/// tasks by the hundred in one message. Loop thread only.
struct Registrations {
    /// The provider of a task that has one; nil: it has none, or ``lists``.
    private var only: Registration?
    /// The providers of a task that has had several; nil: it has none, or ``only``.
    private var lists: RegistrationLists?
    private var lastOrder: UInt64 = 0

    var isEmpty: Bool { only == nil && lists == nil }
    /// The newest last. Once, when the daemon ends.
    var all: [Registration] { only.map { [$0] } ?? lists?.all ?? [] }
    /// Whether any of them takes calls. Only some of very many are asked: it selects the words of an error.
    var haveOpen: Bool { only?.isOpen ?? lists?.haveOpen ?? false }
    /// How many were looked at so far, of several. For tests.
    var visits: Int { lists?.visits ?? 0 }

    subscript(session: Session) -> Registration? {
        if let only { return only.session === session ? only : nil }
        return lists?[session]
    }

    /// Enters a session that is not entered, as the newest.
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

    /// The newest one that takes any caller's calls.
    mutating func newest() -> Registration? {
        if let only { return only.takesOthers ? only : nil }
        return lists?.newest()
    }

    /// The newest one of an owner that takes its owner's calls.
    mutating func newest(of owner: ProviderOwner) -> Registration? {
        if let only { return only.takesOthers && only.owner == owner && only.takesOwners ? only : nil }
        return lists?.newest(of: owner)
    }

    /// The newest one that the policy lets serve others.
    mutating func newestServing(_ task: String, _ rights: Rights) -> Registration? {
        if let only { return only.takesOthers && only.mayServe(task, rights).isAllowed ? only : nil }
        return lists?.newestServing(task, rights)
    }

    /// The session's identity has changed: what it may do can have changed too.
    mutating func reconsider(_ session: Session) { lists?.reconsider(session) }
}
