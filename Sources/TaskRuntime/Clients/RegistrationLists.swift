/// The sessions that provide a task which several of them provide. Nothing here is walked for a call, however many
/// there are: lists have the newest last, and what is found at their ends and no longer takes calls is taken out for
/// good.
struct RegistrationLists {
    private var bySession: [UInt64: Registration] = [:]
    // Those that take any caller's calls:
    private var newestLast: [Registration] = []
    private var byOwner: [ProviderOwner: [Registration]] = [:]
    /// Of those, the ones that may serve others, and the ones about which that has not been asked.
    private var serving: [Registration] = []
    /// The policy that ``serving`` rests on.
    private var policy: UInt64 = 0
    /// How many were looked at so far. For tests.
    private(set) var visits = 0

    init(_ first: Registration, _ second: Registration) {
        insert(first)
        insert(second)
    }

    var isEmpty: Bool { bySession.isEmpty }
    /// The newest last. Once, when the daemon ends.
    var all: [Registration] { bySession.values.sorted { $0.order < $1.order } }

    subscript(session: Session) -> Registration? { bySession[session.number] }

    /// Whether any of them takes calls. Only some of very many are asked: it selects the words of an error.
    var haveOpen: Bool { bySession.values.prefix(64).contains(where: \.isOpen) }

    /// Enters one that is newer than all others.
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

    /// By halving; those behind it move up.
    private static func take(_ left: Registration, from list: inout [Registration]) {
        let index = list.partition { $0.order >= left.order }
        if index < list.count, list[index] === left { list.remove(at: index) }
    }

    /// The newest one that takes any caller's calls.
    mutating func newest() -> Registration? {
        while let last = newestLast.last {
            visits += 1
            if last.isOpen { return last }
            newestLast.removeLast()
        }
        return nil
    }

    /// The newest one of an owner that takes its owner's calls.
    mutating func newest(of owner: ProviderOwner) -> Registration? {
        while let last = byOwner[owner]?.last {
            visits += 1
            if last.takesOwners { return last }
            byOwner[owner]?.removeLast()
        }
        return nil
    }

    /// The newest one that the policy lets serve others. One that it does not is not looked at again before that can
    /// have changed.
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

    /// The session's identity has changed: what it may do can have changed too.
    mutating func reconsider(_ session: Session) {
        guard let one = bySession[session.number], one.provision.scope == .any, !one.isServing else { return }
        one.isServing = true
        serving.insert(one, at: serving.partition { $0.order > one.order })
    }
}
