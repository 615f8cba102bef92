import BridgeJSON
import Logging

/// The quotas as they are in force, who has which account, and what is said where one is reached. Loop thread only.
///
/// `@exclusivity(unchecked)`: docs/architecture.md says why.
final class Quotas {
    /// Bounds that hold for every session.
    @exclusivity(unchecked) private(set) var limits: RuntimeLimits
    /// What sessions, users, plugins and tasks may take.
    private(set) var values: QuotaLimits
    /// How often a session may call; nil: as often as it likes.
    private(set) var sessionPace: CallPace?
    /// Whether calls are counted by time, for sessions or users.
    @exclusivity(unchecked) private(set) var hasPaces = false
    /// Bytes that are held for all users together.
    @exclusivity(unchecked) private(set) var queuedBytes = 0
    /// What is held for the descriptions of tasks that clients provide.
    private(set) var descriptionBytes = 0
    /// What clients have yet to read, of all sessions together: what the last writing left.
    private(set) var unread = UnreadOutput()
    private var accounts = UserAccounts()
    private var refusals: [QuotaName: UInt64] = [:]
    let time: CallClock
    private let sessions: SessionStore
    private let rights: Rights
    let clock: any RuntimeClock
    private let log: Logger

    init(
        _ limits: RuntimeLimits, _ values: QuotaLimits, _ sessions: SessionStore, _ rights: Rights, _ time: CallClock,
        _ clock: any RuntimeClock, _ log: Logger
    ) {
        self.limits = limits
        self.values = values
        self.sessions = sessions
        self.rights = rights
        self.time = time
        self.clock = clock
        self.log = log
        notePaces()
    }

    /// Goes by other bounds from now on, for living sessions too.
    func apply(_ limits: RuntimeLimits) { self.limits = limits }

    /// Goes by other quotas from now on, for living sessions too. What has been taken stays taken; rates begin again.
    ///
    /// - Returns: Whether they are others.
    func apply(_ values: QuotaLimits) -> Bool {
        guard values != self.values else { return false }
        self.values = values
        for account in accounts.all { account.apply(values) }
        for session in sessions.all { session.rate = CallRate() }
        notePaces()
        return true
    }

    /// Reads of the quotas what every call has to know.
    private func notePaces() {
        sessionPace = CallPace(values.sessionCalls)
        hasPaces = sessionPace != nil || values.user.calls.callsPerSecond > 0
    }

    // MARK: What is held

    /// So many bytes more are held for a user; nil: for none.
    func hold(_ bytes: Int, for account: UserAccount?) {
        account?.queuedBytes += bytes
        queuedBytes += bytes
    }

    /// So much more is held for descriptions of tasks that the session provides.
    func holdDescription(_ bytes: Int, for session: Session) {
        session.descriptionBytes += bytes
        descriptionBytes += bytes
    }

    /// This is what was left unwritten of a session's output.
    func countUnread(_ output: UnreadOutput, of session: Session) {
        unread.bytes += output.bytes - session.countedUnread.bytes
        unread.events += output.events - session.countedUnread.events
        session.countedUnread = output
    }

    // MARK: Accounts

    /// What a user has taken, by sessions that are trusted as those of this origin are.
    func account(of peer: PeerIdentity, origin: String = Session.localOrigin) -> UserAccount {
        let isTrusted = rights.policy.trusts(PolicySubject(uid: peer.uid, origin: origin))
        return accounts.account(of: peer.uid, isTrusted: isTrusted, values, now: clock.now)
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
    func refusal(ofConnectionBy peer: PeerIdentity) -> BridgeError? {
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
        account.unreportedConnections += 1
        let now = clock.now
        if let reportedAt = account.reportedAt, now.since(reportedAt) < .seconds(10) { return }
        log.warning(
            """
            \(account.label) has \(account.connections) connections, as many as it may (quotas.uid_connections); \
            turned away since this was last said: \(account.unreportedConnections)
            """)
        account.unreportedConnections = 0
        account.reportedAt = now
    }

    // MARK: What a session keeps

    /// - Throws: `quota.exceeded`, where the session or its user would listen to too many patterns.
    func checkSubscriptions(_ count: Int, of session: Session) throws(BridgeError) {
        let added = count - session.subscriptions.count
        guard added > 0 else { return }
        try check(
            .subscriptions, count, values.sessionSubscriptions, of: "session \(session.number)",
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
            .tasks, session.registrations.count + added, values.sessionTasks, of: "session \(session.number)",
            "tasks to provide")
        let account = session.account
        try check(.tasks, account.tasks + added, account.quota.tasks, of: account.label, "tasks to provide")
    }

    /// - Throws: `quota.exceeded`, where one more stream would be too many, `busy`, where its window does not fit.
    ///
    /// - Parameters:
    ///   - holder: as whose it would count.
    ///   - session: whose holder that is; nil: a plugin's.
    ///   - plugin: that plugin's name.
    func checkStream(of holder: StreamHolder, _ session: Session?, plugin: String?) throws(BridgeError) {
        let count = holder.chargedCount + 1
        let windowBytes = limits.streamWindowBytes
        guard let session else {
            try check(.streams, count, values.user.streams, of: "plugin \(plugin ?? "")", "streams")
            guard queuedBytes + windowBytes <= values.queuedBytes else { throw noRoomForAll() }
            return
        }
        let account = session.account
        try check(.streams, count, values.sessionStreams, of: "session \(session.number)", "streams")
        try check(.streams, account.streams + 1, account.quota.streams, of: account.label, "streams")
        guard hasRoom(for: windowBytes, of: account) else { throw tooManyBytes(of: account, adding: windowBytes) }
    }

    /// - Throws: `quota.exceeded`, where so much more must not be held for descriptions of tasks.
    func checkDescriptions(_ addedBytes: Int, of account: UserAccount) throws(BridgeError) {
        guard addedBytes > 0 else { return }
        let maximum = account.isTrusted ? DescriptionBytes.maximum : DescriptionBytes.maximumOfUser
        let what = "bytes of descriptions of tasks"
        try check(.descriptionBytes, account.descriptionBytes + addedBytes, maximum, of: account.label, what)
        try check(.descriptionBytes, descriptionBytes + addedBytes, DescriptionBytes.maximum, of: "all users", what)
    }

    /// - Throws: `quota.exceeded`, where more is wanted than may be.
    func check(
        _ quota: QuotaName, _ wanted: Int, _ limit: Int, of whom: String, _ what: String
    ) throws(BridgeError) {
        guard wanted > limit else { return }
        refusals[quota, default: 0] += 1
        throw BridgeError(
            .quotaExceeded, "\(whom) may have \(limit) \(what), not \(wanted)",
            data: .object(Self.data(quota, limit, whom)))
    }

    // MARK: Words and figures

    /// What passes with time. The call that it refuses has not begun.
    func busy(
        _ quota: QuotaName, _ limit: Int, of whom: String, _ message: String, retryAfter: Duration
    ) -> BridgeError {
        refusals[quota, default: 0] += 1
        var data = Self.data(quota, limit, whom)
        data["started"] = false
        return BridgeError(.busy, message, data: .object(data), isTransient: true, retryAfter: retryAfter)
    }

    private static func data(_ quota: QuotaName, _ limit: Int, _ whom: String) -> JSONObject {
        ["quota": .string(quota.rawValue), "limit": .number(JSONNumber(limit)), "of": .string(whom)]
    }

    /// How often a quota was met.
    func refusalCount(of quota: QuotaName) -> UInt64 { refusals[quota] ?? 0 }
}
