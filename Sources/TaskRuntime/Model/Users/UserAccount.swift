/// What the sessions of one uid have taken together. Loop thread only.
///
/// Of root and the daemon's own user there are two accounts: one of local sessions, which are trusted and may take
/// more, and one of sessions that speak for an origin. So a page is bound as any user is, and takes nothing of what the
/// user's own programs have. Each plugin has one too, for the work that is done for it in the daemon.
///
/// `@exclusivity(unchecked)`: docs/architecture.md says why.
public final class UserAccount {
    /// What one session has taken of its account, itself included.
    struct Taken {
        var callsInFlight: Int
        var subscriptions: Int
        var tasks: Int
        var queuedBytes: Int
        var descriptionBytes: Int
    }

    /// The user id; for a plugin the daemon's.
    public let uid: UInt32
    /// The number of the plugin whose account it is; nil: it is that of sessions.
    public let pluginNumber: UInt64?
    /// Whether it is that of local sessions of root or of the daemon's own user.
    let isTrusted: Bool
    private(set) var quota = UserQuota()
    private(set) var pace: CallPace?

    var connections = 0
    @exclusivity(unchecked) var callsInFlight = 0
    /// How many of these there may be.
    @exclusivity(unchecked) private(set) var maximumCallsInFlight = Int.max
    /// What plugins still do for calls that have ended.
    @exclusivity(unchecked) var unfinished: UnfinishedCounts
    var subscriptions = 0
    var tasks = 0
    /// Streams that count as theirs.
    var streams = 0
    /// What is held for the descriptions of tasks that they provide.
    var descriptionBytes = 0
    @exclusivity(unchecked) var queuedBytes = 0
    var rate = CallRate()
    /// Names that were suggested of late in the place of unknown ones.
    var suggestions = CallRate()
    /// Work that waits for the user's share of the loop.
    @exclusivity(unchecked) var steps = StepQueue()
    /// Connections that were turned away and not reported in the log, and when others were reported.
    var unreportedConnections = 0
    var reportedAt: RuntimeInstant?
    /// Lines that plugins write for its calls.
    var logLines = LogAllowance()

    init(uid: UInt32, isTrusted: Bool, plugin: UInt64? = nil, _ limits: QuotaLimits) {
        self.uid = uid
        pluginNumber = plugin
        self.isTrusted = isTrusted
        unfinished = UnfinishedCounts(
            maximum: QuotaLimits.unfinishedCalls * (isTrusted ? limits.trustedFactor : 1))
        apply(limits)
    }

    /// Goes by other bounds from now on. What was taken stays taken.
    func apply(_ limits: QuotaLimits) {
        quota = isTrusted ? limits.user.times(limits.trustedFactor) : limits.user
        pace = CallPace(quota.calls)
        maximumCallsInFlight = quota.calls.callsInFlight > 0 ? quota.calls.callsInFlight : .max
        rate = CallRate()
    }

    var label: String { "uid \(uid)" }

    func add(_ session: Taken) { add(session, times: 1) }
    func remove(_ session: Taken) { add(session, times: -1) }

    private func add(_ session: Taken, times sign: Int) {
        connections += sign
        callsInFlight += sign * session.callsInFlight
        subscriptions += sign * session.subscriptions
        tasks += sign * session.tasks
        queuedBytes += sign * session.queuedBytes
        descriptionBytes += sign * session.descriptionBytes
    }

    /// Whether a new account would be the same.
    func isIdle(at now: RuntimeInstant) -> Bool {
        connections == 0 && callsInFlight == 0 && streams == 0 && queuedBytes == 0 && steps.jobs.isEmpty
            && unfinished.isEmpty && rate.isFull(now: now.nanoseconds)
    }
}

/// The accounts, one for each uid that is connected or was not long ago, and for whether it is trusted.
struct UserAccounts {
    private struct Key: Hashable {
        var uid: UInt32
        var isTrusted: Bool
    }

    private var accounts: [Key: UserAccount] = [:]
    /// From so many on those that are no longer needed are given up before another one is made: an account outlives its
    /// last session, because its rate must not begin again with each connection.
    private var crowd = 64

    var all: some Collection<UserAccount> { accounts.values }

    mutating func account(of uid: UInt32, isTrusted: Bool, _ limits: QuotaLimits, now: RuntimeInstant) -> UserAccount {
        let key = Key(uid: uid, isTrusted: isTrusted)
        if let known = accounts[key] { return known }
        if accounts.count >= crowd {
            accounts = accounts.filter { !$0.value.isIdle(at: now) }
            crowd = max(64, accounts.count * 2)
        }
        let made = UserAccount(uid: uid, isTrusted: isTrusted, limits)
        accounts[key] = made
        return made
    }
}
