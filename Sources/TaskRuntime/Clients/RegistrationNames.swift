import BridgeJSON

/// The names of a `bridge.register`, read and checked within a share of the loop, before anything is made of their
/// descriptions.
struct RegistrationNames {
    private var unread: NameReader
    private var known: Set<String> = []
    /// How many of them the session does not provide yet. It changes nothing of that while its job waits.
    private(set) var addedCount = 0
    /// Those that have been read, each once.
    private(set) var names: [String] = []
    private var checkedCount = 0
    /// What the checks rest on.
    private var revision: (policy: UInt64, identity: UInt32) = (0, 0)

    init(_ names: NameReader) {
        unread = names
        let expected = min(names.count, Self.maximumExpected)
        known.reserveCapacity(expected)
        self.names.reserveCapacity(expected)
    }

    /// So many names are made room for before the quota is asked.
    private static let maximumExpected = 256

    /// Goes on. True: all have been read, and the session may provide them.
    mutating func check(
        _ clients: ClientTasks, by session: Session, until budget: StepBudget
    ) throws(BridgeError) -> Bool {
        guard try read(session, until: budget) else { return false }
        try clients.quotas.checkTasks(adding: addedCount, of: session)
        // Where that has changed meanwhile, everything is asked once more.
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
