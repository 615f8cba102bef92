/// The pace at which calls may begin, derived from a quota of calls per second.
struct CallPace {
    /// The quota, for messages about it.
    let callsPerSecond: Int
    /// The interval between evenly spaced calls.
    let intervalNanoseconds: UInt64
    /// How far calls may run ahead of that pace.
    let aheadNanoseconds: UInt64

    /// `nil` if the quota does not limit the calls per second.
    init?(_ quota: CallQuota) {
        guard quota.callsPerSecond > 0 else { return nil }
        callsPerSecond = quota.callsPerSecond
        intervalNanoseconds = max(1, 1_000_000_000 / UInt64(quota.callsPerSecond))
        let burst = UInt64(quota.burst > 0 ? quota.burst : quota.callsPerSecond)
        let (ahead, overflow) = (burst - 1).multipliedReportingOverflow(by: intervalNanoseconds)
        aheadNanoseconds = overflow ? .max : ahead
    }
}

/// A token bucket, one token for each call, that fills at a pace. It is stored as the moment when it will be full
/// again, so that filling it takes no work.
struct CallRate {
    private var fullAt: UInt64 = 0

    /// Returns the time until there is a token; 0 if there is one.
    func nanosecondsToToken(_ pace: CallPace, now: UInt64) -> UInt64 {
        let (latest, overflow) = now.addingReportingOverflow(pace.aheadNanoseconds)
        return overflow || fullAt <= latest ? 0 : fullAt - latest
    }

    /// Takes a token.
    mutating func take(_ pace: CallPace, now: UInt64) { fullAt = max(fullAt, now) &+ pace.intervalNanoseconds }

    /// Whether the bucket is as full as a new one.
    func isFull(now: UInt64) -> Bool { fullAt <= now }
}
