public import BridgeJSON
import Logging

// The quotas as they are in force, who has which account, and what is said where one is reached.
extension TaskRuntime {
    /// Goes by other quotas from now on, for living sessions too. What has been taken stays taken; rates begin anew.
    public func apply(_ quotas: QuotaLimits) {
        guard quotas != self.quotas else { return }
        self.quotas = quotas
        for account in accounts.all { account.apply(quotas) }
        for session in sessions.values { session.rate = CallRate() }
        registry.setMeters(CallMeters(quotas))
        notePaces()
    }

    /// Reads of the quotas what every call has to know.
    func notePaces() {
        sessionPace = CallPace(quotas.sessionCalls)
        hasPaces = sessionPace != nil || quotas.user.calls.callsPerSecond > 0
    }

    /// What a user has taken, by sessions that are trusted as those of this origin are.
    func account(of peer: PeerIdentity, origin: String = Session.localOrigin) -> UserAccount {
        let isTrusted = policy.trusts(PolicySubject(uid: peer.uid, origin: origin))
        return accounts.account(of: peer.uid, isTrusted: isTrusted, quotas, now: clock.now)
    }

    /// The account of a session that is to speak for an origin.
    ///
    /// - Throws: `busy` or `quota.exceeded`, where the account changes and has no room for what the session has.
    func account(of session: Session, for origin: String) throws(BridgeError) -> UserAccount {
        let account = account(of: session.peer, origin: origin)
        guard account !== session.account else { return account }
        guard account.connections < account.quota.connections else { throw tooManyConnections(account) }
        try checkCalls(of: session, on: account)
        try check(
            .subscriptions, account.subscriptions + session.subscriptions.count, account.quota.subscriptions,
            of: account.label, "patterns of events to listen to")
        try check(
            .tasks, account.tasks + session.registrations.count, account.quota.tasks, of: account.label,
            "tasks to provide")
        try checkDescriptions(session.descriptionBytes, of: account)
        return account
    }

    /// The session is gone, and what it had no longer counts.
    func settleAccount(of session: Session) {
        session.account.connections -= 1
        releaseQueued(session)
    }

    // MARK: Connections

    /// Why a client must not connect; nil: it may.
    public func refusal(ofConnectionBy peer: PeerIdentity) -> BridgeError? {
        let account = account(of: peer)
        guard account.connections >= account.quota.connections else { return nil }
        noteTurnedAway(account)
        return tooManyConnections(account)
    }

    private func tooManyConnections(_ account: UserAccount) -> BridgeError {
        busy(
            .connections, account.quota.connections, of: account.label,
            "\(account.label) has \(account.connections) connections, as many as it may", retryAfter: .seconds(1))
    }

    /// One line for many: who connects again and again must not fill the log.
    private func noteTurnedAway(_ account: UserAccount) {
        account.untoldConnections += 1
        let now = clock.now
        if let toldAt = account.toldAt, now.since(toldAt) < .seconds(10) { return }
        log.warning(
            """
            \(account.label) has \(account.connections) connections, as many as it may (quotas.uid_connections); \
            turned away since this was last said: \(account.untoldConnections)
            """)
        account.untoldConnections = 0
        account.toldAt = now
    }

    // MARK: What a session keeps

    /// - Throws: `quota.exceeded`, where the session or its user would listen to too many patterns.
    func checkSubscriptions(_ count: Int, of session: Session) throws(BridgeError) {
        let added = count - session.subscriptions.count
        guard added > 0 else { return }
        try check(
            .subscriptions, count, quotas.sessionSubscriptions, of: "session \(session.number)",
            "patterns of events to listen to")
        let account = session.account
        try check(
            .subscriptions, account.subscriptions + added, account.quota.subscriptions, of: account.label,
            "patterns of events to listen to")
    }

    /// - Throws: `quota.exceeded`, where the session or its user would provide too many tasks.
    func checkTasks(adding added: Int, of session: Session) throws(BridgeError) {
        guard added > 0 else { return }
        try check(
            .tasks, session.registrations.count + added, quotas.sessionTasks, of: "session \(session.number)",
            "tasks to provide")
        let account = session.account
        try check(.tasks, account.tasks + added, account.quota.tasks, of: account.label, "tasks to provide")
    }

    /// - Throws: `quota.exceeded`, where so much more must not be held for descriptions of tasks.
    func checkDescriptions(_ addedBytes: Int, of account: UserAccount) throws(BridgeError) {
        guard addedBytes > 0 else { return }
        let maximum = account.isTrusted ? DescriptionBytes.maximum : DescriptionBytes.maximumOfUser
        let what = "bytes of descriptions of tasks"
        try check(.descriptionBytes, account.descriptionBytes + addedBytes, maximum, of: account.label, what)
        try check(.descriptionBytes, descriptionBytes + addedBytes, DescriptionBytes.maximum, of: "all users", what)
    }

    /// - Throws: `quota.exceeded`, where so much must not be retained.
    func checkRetained(
        _ size: RetainedEvents.Size, _ maximum: RetainedEvents.Size, of whom: String
    ) throws(BridgeError) {
        try check(.retainedEvents, size.events, maximum.events, of: whom, "retained events")
        try check(.retainedBytes, size.bytes, maximum.bytes, of: whom, "bytes of retained events")
    }

    private func check(
        _ quota: QuotaName, _ wanted: Int, _ limit: Int, of whom: String, _ what: String
    ) throws(BridgeError) {
        guard wanted > limit else { return }
        refusalsByQuota[quota, default: 0] += 1
        throw BridgeError(
            .quotaExceeded, "\(whom) may have \(limit) \(what), not \(wanted)",
            data: .object(Self.data(quota, limit, whom)))
    }

    // MARK: Words and figures

    /// What passes with time. The call that it refuses has not begun.
    func busy(
        _ quota: QuotaName, _ limit: Int, of whom: String, _ message: String, retryAfter: Duration
    ) -> BridgeError {
        refusalsByQuota[quota, default: 0] += 1
        var data = Self.data(quota, limit, whom)
        data["started"] = false
        return BridgeError(.busy, message, data: .object(data), isTransient: true, retryAfter: retryAfter)
    }

    private static func data(_ quota: QuotaName, _ limit: Int, _ whom: String) -> JSONObject {
        ["quota": .string(quota.rawValue), "limit": .number(JSONNumber(limit)), "of": .string(whom)]
    }

    /// How often each quota was met.
    var quotaRefusals: JSON {
        .object(
            QuotaName.allCases.reduce(into: JSONObject()) {
                $0[$1.rawValue] = .number(JSONNumber(refusalsByQuota[$1] ?? 0))
            })
    }
}
