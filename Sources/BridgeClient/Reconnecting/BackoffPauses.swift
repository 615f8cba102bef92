// The pauses between attempts to connect, one after the other. Neither clock nor chance of its own.

/// Where a client is among its pauses.
struct BackoffPauses {
    /// Beyond so many doublings every pause is the longest: 2 to the power of it is more than any maximum holds.
    private static let maximumDoublings = 40
    /// No pause is shorter: an attempt is to be worth more than the turns of the loop that it takes.
    private static let shortest = Duration.milliseconds(1)

    private let backoff: Backoff
    /// Attempts since the last connection that was good.
    private(set) var attempts = 0
    private var last = Duration.zero

    init(_ backoff: Backoff) {
        self.backoff = backoff
    }

    /// The next pause.
    /// - Parameter chance: from 0 to 1: how much of the jitter is taken away.
    mutating func next(chance: Double) -> Duration {
        var whole = backoff.initial
        for _ in 0..<min(attempts, Self.maximumDoublings) where whole < backoff.maximum { whole *= 2 }
        attempts += 1
        last = max(min(whole, backoff.maximum) * (1 - backoff.jitter * chance), Self.shortest)
        return last
    }

    /// A connection was good for so long. Pauses begin again only where it outlived the last one: a daemon that takes
    /// connections and drops them must not be tried at full speed.
    mutating func wasConnected(for duration: Duration) {
        if duration >= last { attempts = 0 }
    }
}
