import BridgeJSON
import Logging

/// The current quotas, the accounts of users, and the errors for reached quotas. Loop thread only.
///
/// docs/architecture.md explains `@exclusivity(unchecked)`.
final class Quotas {
    /// The limits of every session.
    @exclusivity(unchecked) private(set) var limits: RuntimeLimits
    /// The quotas of sessions, users, plugins and tasks.
    private(set) var values: QuotaLimits
    /// The maximum rate of a session's calls; `nil` if it is unlimited.
    private(set) var sessionPace: CallPace?
    /// Whether the rate of calls is limited for sessions or users.
    @exclusivity(unchecked) private(set) var hasPaces = false
    /// The number of bytes that are held for all users together.
    @exclusivity(unchecked) private(set) var queuedBytes = 0
    /// The number of bytes that are held for the descriptions of tasks that clients provide.
    private(set) var descriptionBytes = 0
    /// The output of all sessions that clients have not read, as of the last write.
    private(set) var unread = UnreadOutput()
    private var accounts = UserAccounts()
    private var refusals: [QuotaName: UInt64] = [:]
    /// The refused connections beyond the maximum for all users.
    private var connectionReports = RefusalReports()
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

    /// Applies new limits, also to existing sessions.
    func apply(_ limits: RuntimeLimits) { self.limits = limits }

    /// Applies new quotas, also to existing sessions. Amounts in use still count; rates start again.
    ///
    /// - Returns: Whether the quotas have changed.
    func apply(_ values: QuotaLimits) -> Bool {
        guard values != self.values else { return false }
        self.values = values
        for account in accounts.all { account.apply(values) }
        for session in sessions.all { session.rate = CallRate() }
        notePaces()
        return true
    }

    /// Caches the quotas that every call needs.
    private func notePaces() {
        sessionPace = CallPace(values.sessionCalls)
        hasPaces = sessionPace != nil || values.user.calls.callsPerSecond > 0
    }

    // MARK: Held bytes

    /// Adds to the number of bytes that are held for a user; `nil` for bytes that belong to no user.
    func hold(_ bytes: Int, for account: UserAccount?) {
        account?.queuedBytes += bytes
        queuedBytes += bytes
    }

    /// Adds to the number of bytes that are held for descriptions of tasks that the session provides.
    func holdDescription(_ bytes: Int, for session: Session) {
        session.descriptionBytes += bytes
        descriptionBytes += bytes
    }

    /// Stores the size of a session's unwritten output.
    func countUnread(_ output: UnreadOutput, of session: Session) {
        unread.bytes += output.bytes - session.countedUnread.bytes
        unread.events += output.events - session.countedUnread.events
        session.countedUnread = output
    }

    // MARK: Accounts

    /// Returns the account of a user, for sessions with the same trust as those of this origin.
    func account(of peer: PeerIdentity, origin: String = Session.localOrigin) -> UserAccount {
        let isTrusted = rights.policy.trusts(PolicySubject(uid: peer.uid, origin: origin))
        return accounts.account(of: peer.uid, isTrusted: isTrusted, values, now: clock.now)
    }

    /// Returns the account of a session that will represent an origin.
    ///
    /// - Throws: `busy` or `quota.exceeded` if the account changes and has no room for the session.
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

    /// Removes a session that has ended from its account.
    func settleAccount(of session: Session) {
        session.account.connections -= 1
        releaseQueued(session)
    }

    // MARK: Connections

    /// Returns why a client must not connect; `nil` if it may.
    func refusal(ofConnectionBy peer: PeerIdentity) -> BridgeError? {
        let account = account(of: peer)
        guard account.connections >= account.quota.connections else { return nil }
        noteTurnedAway(account)
        return tooManyConnections(account)
    }

    /// Returns the error for a connection that exceeds the maximum for all users.
    func refusal(ofConnectionBeyond maximum: Int) -> BridgeError {
        if connectionReports.note(at: clock.now) {
            log.warning(
                """
                \(maximum) sessions are connected, the maximum (limits.sessions); \
                refused since the last report: \(connectionReports.take())
                """)
        }
        return busy(
            .connections, maximum, of: "all users", "\(maximum) sessions are connected, the maximum",
            retryAfter: .seconds(1))
    }

    private func tooManyConnections(_ account: UserAccount) -> BridgeError {
        busy(
            .connections, account.quota.connections, of: account.label,
            "\(account.label) has \(account.connections) connections, the maximum", retryAfter: .seconds(1))
    }

    /// Counts a refused connection. One log line reports many, so that a client cannot fill the log by connecting
    /// repeatedly.
    private func noteTurnedAway(_ account: UserAccount) {
        guard account.connectionReports.note(at: clock.now) else { return }
        log.warning(
            """
            \(account.label) has \(account.connections) connections, the maximum (quotas.uid_connections); \
            refused since the last report: \(account.connectionReports.take())
            """)
    }

    // MARK: Resources of a session

    /// - Throws: `quota.exceeded` if the session or its user would have too many subscriptions.
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

    /// - Throws: `quota.exceeded` if the session or its user would provide too many tasks.
    func checkTasks(adding added: Int, of session: Session) throws(BridgeError) {
        guard added > 0 else { return }
        try check(
            .tasks, session.registrations.count + added, values.sessionTasks, of: "session \(session.number)",
            "tasks to provide")
        let account = session.account
        try check(.tasks, account.tasks + added, account.quota.tasks, of: account.label, "tasks to provide")
    }

    /// - Throws: `quota.exceeded` if one more stream would be too many; `busy` if there is no room for its window.
    ///
    /// - Parameters:
    ///   - holder: The holder for which the stream would count.
    ///   - session: The session of this holder; `nil` if the holder is a plugin.
    ///   - plugin: The name of this plugin; `nil` for a session.
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

    /// - Throws: `quota.exceeded` if there is no room for this number of bytes of task descriptions.
    func checkDescriptions(_ addedBytes: Int, of account: UserAccount) throws(BridgeError) {
        guard addedBytes > 0 else { return }
        let maximum = account.isTrusted ? DescriptionBytes.maximum : DescriptionBytes.maximumOfUser
        let what = "bytes of descriptions of tasks"
        try check(.descriptionBytes, account.descriptionBytes + addedBytes, maximum, of: account.label, what)
        try check(.descriptionBytes, descriptionBytes + addedBytes, DescriptionBytes.maximum, of: "all users", what)
    }

    /// - Throws: `quota.exceeded` if the requested amount exceeds the limit.
    func check(
        _ quota: QuotaName, _ wanted: Int, _ limit: Int, of whom: String, _ what: String
    ) throws(BridgeError) {
        guard wanted > limit else { return }
        refusals[quota, default: 0] += 1
        throw BridgeError(
            .quotaExceeded, "\(whom) may have \(limit) \(what), not \(wanted)",
            data: .object(Self.data(quota, limit, whom)))
    }

    // MARK: Errors and counters

    /// Returns the error for a temporary refusal. The refused call has not begun.
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

    /// Returns how often a quota caused a refusal.
    func refusalCount(of quota: QuotaName) -> UInt64 { refusals[quota] ?? 0 }
}
