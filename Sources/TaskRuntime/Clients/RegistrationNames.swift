import BridgeJSON

/// The names of a `bridge.register`, read and checked within a share of the loop, before their descriptions are
/// processed.
struct RegistrationNames {
    private var unread: NameReader
    private var known: Set<String> = []
    /// The number of names that the session does not provide yet. The session cannot change this while its job waits.
    private(set) var addedCount = 0
    /// The names that have been read, without duplicates.
    private(set) var names: [String] = []
    private var checkedCount = 0
    /// The revisions that the checks depend on.
    private var revision: (policy: UInt64, identity: UInt32) = (0, 0)

    init(_ names: NameReader) {
        unread = names
        let expected = min(names.count, Self.maximumExpected)
        known.reserveCapacity(expected)
        self.names.reserveCapacity(expected)
    }

    /// The maximum number of names for which memory is reserved before the quota check.
    private static let maximumExpected = 256

    /// Continues, and returns true once all names have been read and the session may provide them.
    mutating func check(
        _ clients: ClientTasks, by session: Session, until budget: StepBudget
    ) throws(BridgeError) -> Bool {
        guard try read(session, until: budget) else { return false }
        try clients.quotas.checkTasks(adding: addedCount, of: session)
        // Repeats all checks if the policy or the identity has changed meanwhile.
        let now = (policy: clients.rights.revision, identity: session.identityRevision)
        if revision != now { (revision, checkedCount) = (now, 0) }
        let subject = clients.rights.subject(session)
        while checkedCount < names.count {
            try clients.checkProvision(of: names[checkedCount], by: subject)
            checkedCount += 1
            if budget.isSpent, checkedCount < names.count { return false }
        }
        return true
    }

    private mutating func read(_ session: Session, until budget: StepBudget) throws(BridgeError) -> Bool {
        while let (index, name) = try unread.next() {
            guard TaskName.isAllowed(name) else {
                throw BridgeError(
                    JSONMismatch(
                        path: "$.tasks[\(index)]", expected: TaskName.rule, got: "\"\(name.prefix(64))\""))
            }
            if known.insert(name).inserted {
                names.append(name)
                if !session.registrations.contains(name) { addedCount += 1 }
            }
            if budget.isSpent { return false }
        }
        return true
    }
}
