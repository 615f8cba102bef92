import TaskKit

/// Limits the login attempts of a session, and of the sessions of one uid, under any names. A pure state machine. The
/// lock-out limits guesses for one name; this limits guesses for many names.
///
/// Each subject has a bucket that holds the attempts of a minute and fills in a minute. A refused attempt takes
/// nothing. Times are readings of one monotonic clock, given by the caller.
struct LoginAttempts: Sendable {
    /// The attempts per minute; 0 for no limit.
    struct Rules: Sendable, Equatable {
        /// The attempts of one session. No user types so fast; a page that logs in again with each load needs fewer,
        /// too.
        var session = 120
        /// The attempts of all sessions of one uid.
        var uid = 600
    }

    /// The session or the uid that makes the attempts.
    enum Subject: Hashable, Sendable, CustomStringConvertible {
        case session(SessionID)
        case uid(UInt32)

        var description: String {
            switch self {
            case .session(let session): "session \(session)"
            case .uid(let uid): "uid \(uid)"
            }
        }
    }

    /// The refusal of an attempt: the subject whose bucket is empty, and the time until the next attempt.
    struct Refusal: Error, Equatable {
        var subject: Subject
        var limit: Int
        var retryAfter: Duration
    }

    /// The rules for later attempts. A change refills all buckets.
    var rules: Rules {
        didSet { if rules != oldValue { fullAt = [:] } }
    }
    /// The time at which each bucket will be full; a missing bucket is full.
    private var fullAt: [Subject: Duration] = [:]
    /// The number of buckets from which full ones are removed.
    private static let crowd = 1_024

    init(rules: Rules = Rules()) { self.rules = rules }

    /// The number of stored buckets.
    var count: Int { fullAt.count }

    /// Takes an attempt from both buckets.
    mutating func attempt(session: SessionID, uid: UInt32, now: Duration) throws(Refusal) {
        let buckets: [(Subject, Int)] = [(.session(session), rules.session), (.uid(uid), rules.uid)]
        for (subject, limit) in buckets where limit > 0 {
            let interval = Self.minute / limit
            let wait = (fullAt[subject] ?? now) - now - (Self.minute - interval)
            if wait > .zero { throw Refusal(subject: subject, limit: limit, retryAfter: wait) }
        }
        if fullAt.count >= Self.crowd { fullAt = fullAt.filter { $0.value > now } }
        for (subject, limit) in buckets where limit > 0 {
            fullAt[subject] = max(fullAt[subject] ?? now, now) + Self.minute / limit
        }
    }

    private static let minute = Duration.seconds(60)
}
