/// What the sessions of one uid have taken together. Loop thread only.
///
/// `@exclusivity(unchecked)`, here on what every call touches: one thread uses it, and no access to it lasts while anything
/// else of it is called, so that the checks, a large part of a call's cost, would find nothing.
final class UserAccount {
    let uid: UInt32
    /// Whether it is root or the daemon's own user.
    let isTrusted: Bool
    private(set) var quota = UserQuota()
    private(set) var pace: CallPace?

    var connections = 0
    @exclusivity(unchecked) var callsInFlight = 0
    /// How many of these there may be.
    @exclusivity(unchecked) private(set) var mostCallsInFlight = Int.max
    var subscriptions = 0
    var tasks = 0
    @exclusivity(unchecked) var queuedBytes = 0
    var rate = CallRate()
    /// Connections that were turned away and not told in the log, and when others were told.
    var untoldConnections = 0
    var toldAt: RuntimeInstant?

    init(uid: UInt32, isTrusted: Bool, _ limits: QuotaLimits) {
        self.uid = uid
        self.isTrusted = isTrusted
        apply(limits)
    }

    /// Goes by other bounds from now on. What was taken stays taken.
    func apply(_ limits: QuotaLimits) {
        quota = isTrusted ? limits.user.times(limits.trustedFactor) : limits.user
        pace = CallPace(quota.calls)
        mostCallsInFlight = quota.calls.callsInFlight > 0 ? quota.calls.callsInFlight : .max
        rate = CallRate()
    }

    var label: String { "uid \(uid)" }

    /// Whether a new account would be the same.
    func isIdle(at now: RuntimeInstant) -> Bool {
        connections == 0 && callsInFlight == 0 && queuedBytes == 0 && rate.isFull(now: now.nanoseconds)
    }
}

/// The accounts, one for each uid that is connected or was not long ago.
struct UserAccounts {
    private var accounts: [UInt32: UserAccount] = [:]
    /// From so many on those that nobody needs any more are given up before another one is made: an account outlives its
    /// last session, because its rate must not begin anew with each connection.
    private var crowd = 64

    var all: some Collection<UserAccount> { accounts.values }

    mutating func account(of uid: UInt32, isTrusted: Bool, _ limits: QuotaLimits, now: RuntimeInstant) -> UserAccount {
        if let known = accounts[uid] { return known }
        if accounts.count >= crowd {
            accounts = accounts.filter { !$0.value.isIdle(at: now) }
            crowd = max(64, accounts.count * 2)
        }
        let made = UserAccount(uid: uid, isTrusted: isTrusted, limits)
        accounts[uid] = made
        return made
    }
}
