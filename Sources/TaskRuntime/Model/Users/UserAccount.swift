/// The resources that the sessions of one uid use together. Loop thread only.
///
/// Root and the daemon's own user have two accounts each: one for local sessions, which are trusted and have higher
/// limits, and one for sessions that represent an origin. So a page is limited like any user, and uses nothing of the
/// quota of the user's own programs. Each plugin also has an account, for the work that the daemon does for it.
///
/// `@exclusivity(unchecked)`: docs/architecture.md says why.
public final class UserAccount {
    /// The share of one session in its account, the session itself included.
    struct Taken {
        var callsInFlight: Int
        var subscriptions: Int
        var tasks: Int
        var queuedBytes: Int
        var descriptionBytes: Int
    }

    /// The user id; for a plugin the daemon's user id.
    public let uid: UInt32
    /// The number of the plugin that owns the account; `nil` for an account of sessions.
    public let pluginNumber: UInt64?
    /// Whether the account is for local sessions of root or of the daemon's own user.
    let isTrusted: Bool
    private(set) var quota = UserQuota()
    private(set) var pace: CallPace?

    var connections = 0
    @exclusivity(unchecked) var callsInFlight = 0
    /// The maximum of ``callsInFlight``.
    @exclusivity(unchecked) private(set) var maximumCallsInFlight = Int.max
    /// The work that plugins still do for calls that have ended.
    @exclusivity(unchecked) var unfinished: UnfinishedCounts
    var subscriptions = 0
    var tasks = 0
    /// The number of streams charged to the account.
    var streams = 0
    /// The bytes that are held for the descriptions of tasks that its sessions provide.
    var descriptionBytes = 0
    @exclusivity(unchecked) var queuedBytes = 0
    var rate = CallRate()
    /// The rate of suggestions of task names for unknown ones.
    var suggestions = CallRate()
    /// Work that waits for the user's share of the loop.
    @exclusivity(unchecked) var steps = StepQueue()
    /// The refused connections of the user.
    var connectionReports = RefusalReports()
    /// The allowance for lines that plugins write for its calls.
    var logLines = LogAllowance()

    init(uid: UInt32, isTrusted: Bool, plugin: UInt64? = nil, _ limits: QuotaLimits) {
        self.uid = uid
        pluginNumber = plugin
        self.isTrusted = isTrusted
        unfinished = UnfinishedCounts(maximum: QuotaLimits.unfinishedCalls)
        apply(limits)
    }

    /// Applies other limits. Resources that are in use stay in use.
    func apply(_ limits: QuotaLimits) {
        unfinished.maximum = QuotaLimits.unfinishedCalls * (isTrusted ? limits.trustedFactor : 1)
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

    /// Whether nothing is held for the account, so that it can be removed. A new one starts with full allowances for
    /// log lines and suggestions.
    func isIdle(at now: RuntimeInstant) -> Bool {
        connections == 0 && callsInFlight == 0 && streams == 0 && queuedBytes == 0 && steps.jobs.isEmpty
            && unfinished.isEmpty && rate.isFull(now: now.nanoseconds)
    }
}

/// The accounts, one for each uid that is or was recently connected and for each trust level.
struct UserAccounts {
    private struct Key: Hashable {
        var uid: UInt32
        var isTrusted: Bool
    }

    private var accounts: [Key: UserAccount] = [:]
    /// The number of accounts from which unneeded ones are removed before another is created. An account outlives its
    /// last session so that its rate does not start again with each connection.
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
