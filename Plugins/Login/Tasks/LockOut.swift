/// Slows down clients that guess passwords. A pure state machine with one entry per (user name, uid of the peer).
///
/// The first `Rules.freeFailures - 1` failures have no effect. From then on each failure closes the entry for a time:
/// first `Rules.firstDelay`, doubled after each further failure, at most `Rules.maximumDelay`. An attempt during that
/// time is refused immediately, checks no password and changes nothing. A success clears the failures.
///
/// Because the peer's uid is part of the key, no user can lock out another. Running attempts count as failed, so
/// parallel guesses gain nothing over guesses one after the other. Names without an account are counted like the
/// others: an answer must not show whether an account exists.
///
/// Times are readings of one monotonic clock, given by the caller.
struct LockOut: Sendable {
    /// The limits and times.
    struct Rules: Sendable {
        /// The failure with this number is the first one that causes a delay. It allows a person to try several
        /// passwords.
        var freeFailures = 5
        /// The first delay.
        var firstDelay = Duration.seconds(1)
        /// The maximum delay: it allows only 96 guesses a day, and a user who returns after a break can log in.
        var maximumDelay = Duration.seconds(15 * 60)
        /// The time after its last failure after which an entry is removed.
        var memory = Duration.seconds(24 * 60 * 60)
        /// The maximum number of entries: about 5 MB with the longest names.
        var maximumEntries = 10_000
    }

    /// An attempt that may continue. It ends with exactly one of `succeeded`, `failed` and `abandoned`.
    struct Attempt: Sendable, Hashable {
        fileprivate var key: Key
    }

    /// The answer to a request to attempt a password.
    enum Verdict: Sendable, Equatable {
        case allowed(Attempt)
        /// The attempt is refused. The caller may try again after this time, which is more than zero.
        case locked(retryAfter: Duration)
    }

    fileprivate struct Key: Sendable, Hashable {
        var user: UserName
        var uid: UInt32
    }

    private struct Entry {
        var failures = 0
        var underWay = 0
        /// Attempts are refused before this time; `nil` if they are not refused.
        var closedUntil: Duration?
        var lastFailure = Duration.zero

        /// The importance of keeping the entry.
        var weight: (Int, Duration) { (failures, lastFailure) }
    }

    private let rules: Rules
    private var entries: [Key: Entry] = [:]

    init(rules: Rules = Rules()) {
        self.rules = rules
    }

    /// The number of entries.
    var count: Int { entries.count }

    /// Begins an attempt for `user` from `uid`, if it is allowed.
    mutating func begin(user: UserName, uid: UInt32, now: Duration) -> Verdict {
        let key = Key(user: user, uid: uid)
        forget(key, ifPast: now)
        var entry = entries[key] ?? Entry()
        if let closedUntil = entry.closedUntil, closedUntil > now { return .locked(retryAfter: closedUntil - now) }
        // After the free failures, one at a time: the delay of each failure must pass before the next guess.
        let allowed = max(1, rules.freeFailures - entry.failures)
        if entry.underWay >= allowed { return .locked(retryAfter: rules.firstDelay) }
        if entries[key] == nil, !makeRoom(for: uid, now: now) { return .locked(retryAfter: rules.firstDelay) }
        entry.underWay += 1
        entries[key] = entry
        return .allowed(Attempt(key: key))
    }

    /// Ends an attempt whose password was right.
    mutating func succeeded(_ attempt: Attempt) {
        end(attempt) { entry in
            entry.failures = 0
            entry.closedUntil = nil
        }
    }

    /// Ends an attempt whose password was wrong or whose user does not exist.
    mutating func failed(_ attempt: Attempt, now: Duration) {
        end(attempt) { [rules] entry in
            entry.failures += 1
            entry.lastFailure = now
            if entry.failures >= rules.freeFailures { entry.closedUntil = now + rules.delay(after: entry.failures) }
        }
    }

    /// Ends an attempt that checked no password.
    mutating func abandoned(_ attempt: Attempt) {
        end(attempt) { _ in }
    }

    /// Clears the failures for `user` from every uid: the account has a new password, or was removed.
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

    /// Ensures that one more entry fits. Returns false if every entry is in use.
    ///
    /// An expired entry is removed first, then an entry of the same uid before those of others: a user that tries many
    /// names must not erase the failures of other users. Of a uid's entries the one with the fewest failures is
    /// removed; of equal ones, the oldest.
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
    /// Returns the delay after the failure number `failures`.
    fileprivate func delay(after failures: Int) -> Duration {
        var delay = firstDelay
        for _ in 0..<(failures - freeFailures) {
            if delay >= maximumDelay { break }
            delay *= 2
        }
        return min(delay, maximumDelay)
    }
}
