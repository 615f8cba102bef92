/// Slows down who guesses passwords: a pure state machine, one entry per (user name, uid of the peer).
///
/// The first `Rules.freeFailures` failures cost nothing. From then on each failure closes the entry for a while: at
/// first for `Rules.firstDelay`, after each further failure for twice as long, at most for `Rules.maximumDelay`. An
/// attempt that comes in that time is refused immediately, checks no password and changes nothing. A success forgets
/// the failures.
///
/// Because the peer's uid is part of the key, no user can lock another out. Attempts that are under way count as if
/// they had failed, so that guesses made side by side get no further than guesses made one after the other. Names that
/// no account bears are counted like the others: an answer must not show which is which.
///
/// Times are readings of one monotonic clock, given by the caller.
struct LockOut: Sendable {
    /// How patient it is.
    struct Rules: Sendable {
        /// Failures before the first delay: what a person who has several passwords in mind needs.
        var freeFailures = 5
        /// The delay after the first failure that costs something.
        var firstDelay = Duration.seconds(1)
        /// No delay is longer: 96 guesses a day are hopeless, and who comes back after a break gets in.
        var maximumDelay = Duration.seconds(15 * 60)
        /// How long after its last failure an entry is forgotten.
        var memory = Duration.seconds(24 * 60 * 60)
        /// The most entries at a time: with names of the longest kind about 5 MB.
        var maximumEntries = 10_000
    }

    /// An attempt that may go on. Ends with exactly one of `succeeded`, `failed` and `abandoned`.
    struct Attempt: Sendable, Hashable {
        fileprivate var key: Key
    }

    /// What is said to who wants to attempt a password.
    enum Verdict: Sendable, Equatable {
        case allowed(Attempt)
        /// Refused; trying again makes sense after this time, which is more than zero.
        case locked(retryAfter: Duration)
    }

    fileprivate struct Key: Sendable, Hashable {
        var user: UserName
        var uid: UInt32
    }

    private struct Entry {
        var failures = 0
        var underWay = 0
        /// Attempts are refused before this time; nil: they are not.
        var closedUntil: Duration?
        var lastFailure = Duration.zero

        /// What there is to lose by forgetting it.
        var weight: (Int, Duration) { (failures, lastFailure) }
    }

    private let rules: Rules
    private var entries: [Key: Entry] = [:]

    init(rules: Rules = Rules()) {
        self.rules = rules
    }

    /// How many entries there are.
    var count: Int { entries.count }

    /// Asks to attempt a password for `user` from `uid`.
    mutating func begin(user: UserName, uid: UInt32, now: Duration) -> Verdict {
        let key = Key(user: user, uid: uid)
        forget(key, ifPast: now)
        var entry = entries[key] ?? Entry()
        if let closedUntil = entry.closedUntil, closedUntil > now { return .locked(retryAfter: closedUntil - now) }
        // Past the free ones, one at a time: each failure must have its delay before the next guess.
        let allowed = max(1, rules.freeFailures - entry.failures)
        if entry.underWay >= allowed { return .locked(retryAfter: rules.firstDelay) }
        if entries[key] == nil, !makeRoom(for: uid, now: now) { return .locked(retryAfter: rules.firstDelay) }
        entry.underWay += 1
        entries[key] = entry
        return .allowed(Attempt(key: key))
    }

    /// The password was right.
    mutating func succeeded(_ attempt: Attempt) {
        end(attempt) { entry in
            entry.failures = 0
            entry.closedUntil = nil
        }
    }

    /// The password was wrong, or there is no such user.
    mutating func failed(_ attempt: Attempt, now: Duration) {
        end(attempt) { [rules] entry in
            entry.failures += 1
            entry.lastFailure = now
            if entry.failures >= rules.freeFailures { entry.closedUntil = now + rules.delay(after: entry.failures) }
        }
    }

    /// No password was checked.
    mutating func abandoned(_ attempt: Attempt) {
        end(attempt) { _ in }
    }

    /// Forgets the failures for `user` from every uid: the account has a new password, or is gone.
    mutating func forget(user: UserName) {
        for key in entries.keys where key.user == user {
            if let underWay = entries[key]?.underWay, underWay > 0 {
                entries[key] = Entry(underWay: underWay)
            } else {
                entries[key] = nil
            }
        }
    }

    private mutating func end(_ attempt: Attempt, _ change: (inout Entry) -> Void) {
        guard var entry = entries[attempt.key], entry.underWay > 0 else { return }
        entry.underWay -= 1
        change(&entry)
        entries[attempt.key] = entry.underWay == 0 && entry.failures == 0 ? nil : entry
    }

    private mutating func forget(_ key: Key, ifPast now: Duration) {
        guard let entry = entries[key], entry.underWay == 0, isPast(entry, now) else { return }
        entries[key] = nil
    }

    private func isPast(_ entry: Entry, _ now: Duration) -> Bool {
        (entry.closedUntil ?? now) <= now && entry.lastFailure + rules.memory <= now
    }

    /// Makes sure that one more entry fits; false: every entry is in use.
    ///
    /// Where nothing is past, an entry of the same uid has to go before those of others: a user that tries many names
    /// must not make the daemon forget what others, or they themselves, did. Of a uid's entries the one with the fewest
    /// failures goes, of equal ones the oldest.
    private mutating func makeRoom(for uid: UInt32, now: Duration) -> Bool {
        if entries.count < rules.maximumEntries { return true }
        // One pass and no copies: this runs on the loop, at most as often as a password is hashed.
        var victim: (key: Key, entry: Entry)?
        for (key, entry) in entries where entry.underWay == 0 {
            if isPast(entry, now) {
                victim = (key, entry)
                break
            }
            guard let best = victim else {
                victim = (key, entry)
                continue
            }
            let (isOwn, bestIsOwn) = (key.uid == uid, best.key.uid == uid)
            if isOwn == bestIsOwn ? entry.weight < best.entry.weight : isOwn { victim = (key, entry) }
        }
        guard let victim else { return false }
        entries[victim.key] = nil
        return true
    }
}

extension LockOut.Rules {
    /// The delay after the failure number `failures`.
    fileprivate func delay(after failures: Int) -> Duration {
        var delay = firstDelay
        for _ in 0..<(failures - freeFailures) {
            if delay >= maximumDelay { break }
            delay *= 2
        }
        return min(delay, maximumDelay)
    }
}
