import TaskKit

/// Bounds how often a session, and the sessions of one uid, attempt to log in, by whatever name: a pure state machine.
/// The lock-out bounds guesses for one name; this bounds those for many.
///
/// Each has a bucket that holds the attempts of a minute, and fills in a minute. An attempt that is refused takes
/// nothing. Times are readings of one monotonic clock, given by the caller.
struct LoginAttempts: Sendable {
    /// Attempts in a minute; 0: any number.
    struct Rules: Sendable, Equatable {
        /// Those of one session: no user types so fast, and a page that logs in again with each load does not either.
        var session = 120
        /// Those of one uid's sessions.
        var uid = 600
    }

    /// Whose attempts they are.
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

    /// An attempt that is refused: whose bucket is empty, and for how long.
    struct Refusal: Error, Equatable {
        var subject: Subject
        var limit: Int
        var retryAfter: Duration
    }

    /// Changed for later attempts; buckets are full again then.
    var rules: Rules {
        didSet { if rules != oldValue { fullAt = [:] } }
    }
    /// When each bucket will be full; one that is missing is.
    private var fullAt: [Subject: Duration] = [:]
    /// From so many buckets on those that are full are forgotten.
    private static let crowd = 1_024

    init(rules: Rules = Rules()) { self.rules = rules }

    /// How many buckets there are that may not be full.
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
