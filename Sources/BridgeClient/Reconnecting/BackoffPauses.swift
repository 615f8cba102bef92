// The sequence of pauses between attempts to connect. It uses neither a clock nor random numbers of its own.

/// A client's position in the sequence of pauses.
struct BackoffPauses {
    /// Beyond this number of doublings every pause is the longest: 2 to this power exceeds any maximum.
    private static let maximumDoublings = 40
    /// The minimum pause, so that attempts do not follow each other within a few turns of the loop.
    private static let shortest = Duration.milliseconds(1)

    private let backoff: Backoff
    /// The number of attempts since the last good connection.
    private(set) var attempts = 0
    private var last = Duration.zero

    init(_ backoff: Backoff) {
        self.backoff = backoff
    }

    /// Returns the next pause.
    /// - Parameter chance: A number from 0 to 1: the part of the jitter that is subtracted.
    mutating func next(chance: Double) -> Duration {
        var whole = backoff.initial
        for _ in 0..<min(attempts, Self.maximumDoublings) where whole < backoff.maximum { whole *= 2 }
        attempts += 1
        last = max(min(whole, backoff.maximum) * (1 - backoff.jitter * chance), Self.shortest)
        return last
    }

    /// Notes how long a connection lasted. The pauses start again only if it outlasted the last pause: a client must
    /// not retry at full speed with a daemon that accepts connections and drops them.
    mutating func wasConnected(for duration: Duration) {
        if duration >= last { attempts = 0 }
    }
}
