/// The registrations of a task that several sessions provide. No call iterates over them: each list has the newest
/// registration last, and registrations that no longer take calls are removed when they are found at the end.
struct RegistrationLists {
    private var bySession: [UInt64: Registration] = [:]
    // The registrations that take calls of any caller:
    private var newestLast: [Registration] = []
    private var byOwner: [ProviderOwner: [Registration]] = [:]
    /// Of these, the ones that may serve others, and the ones that have not been checked.
    private var serving: [Registration] = []
    /// The revision of the policy that ``serving`` depends on.
    private var policy: UInt64 = 0
    /// The number of registrations examined so far. For tests.
    private(set) var visits = 0

    init(_ first: Registration, _ second: Registration) {
        insert(first)
        insert(second)
    }

    var isEmpty: Bool { bySession.isEmpty }
    /// All registrations, the newest last. Used once, when the daemon ends.
    var all: [Registration] { bySession.values.sorted { $0.order < $1.order } }

    subscript(session: Session) -> Registration? { bySession[session.number] }

    /// Whether any of the first 64 registrations takes calls. This suffices, as it only selects the text of an error.
    var haveOpen: Bool { bySession.values.prefix(64).contains(where: \.isOpen) }

    /// Inserts a registration that is newer than all others.
    mutating func insert(_ made: Registration) {
        bySession[made.session.number] = made
        guard made.provision.scope == .any else { return }
        newestLast.append(made)
        byOwner[made.owner, default: []].append(made)
        made.isServing = true
        serving.append(made)
    }

    mutating func remove(_ session: Session) -> Registration? {
        guard let left = bySession.removeValue(forKey: session.number) else { return nil }
        Self.take(left, from: &newestLast)
        Self.take(left, from: &byOwner[left.owner, default: []])
        if byOwner[left.owner]?.isEmpty == true { byOwner[left.owner] = nil }
        if left.isServing { Self.take(left, from: &serving) }
        return left
    }

    /// Removes a registration by binary search.
    private static func take(_ left: Registration, from list: inout [Registration]) {
        let index = list.partition { $0.order >= left.order }
        if index < list.count, list[index] === left { list.remove(at: index) }
    }

    /// Returns the newest registration that takes calls of any caller.
    mutating func newest() -> Registration? {
        while let last = newestLast.last {
            visits += 1
            if last.isOpen { return last }
            newestLast.removeLast()
        }
        return nil
    }

    /// Returns the newest registration of an owner that takes calls of this owner.
    mutating func newest(of owner: ProviderOwner) -> Registration? {
        while let last = byOwner[owner]?.last {
            visits += 1
            if last.takesOwners { return last }
            byOwner[owner]?.removeLast()
        }
        return nil
    }

    /// Returns the newest registration that the policy allows to serve others. A registration that it does not allow is
    /// not checked again until the policy or the identity has changed.
    mutating func newestServing(_ task: String, _ rights: Rights) -> Registration? {
        if policy != rights.revision {
            policy = rights.revision
            serving = newestLast
            for one in serving { one.isServing = true }
        }
        while let last = serving.last {
            visits += 1
            if last.isOpen, last.mayServe(task, rights).isAllowed { return last }
            last.isServing = false
            serving.removeLast()
        }
        return nil
    }

    /// Checks a session again whose identity, and possibly rights, have changed.
    mutating func reconsider(_ session: Session) {
        guard let one = bySession[session.number], one.provision.scope == .any, !one.isServing else { return }
        one.isServing = true
        serving.insert(one, at: serving.partition { $0.order > one.order })
    }
}
