/// How often calls may begin: what a quota of calls per second comes to.
struct CallPace {
    /// The quota, for words about it.
    let callsPerSecond: Int
    /// From one call to the next, where they come evenly.
    let intervalNanoseconds: UInt64
    /// By so much may calls come ahead of that.
    let aheadNanoseconds: UInt64

    /// Nil: as often as callers like.
    init?(_ quota: CallQuota) {
        guard quota.callsPerSecond > 0 else { return nil }
        callsPerSecond = quota.callsPerSecond
        intervalNanoseconds = max(1, 1_000_000_000 / UInt64(quota.callsPerSecond))
        let burst = UInt64(quota.burst > 0 ? quota.burst : quota.callsPerSecond)
        let (ahead, overflow) = (burst - 1).multipliedReportingOverflow(by: intervalNanoseconds)
        aheadNanoseconds = overflow ? .max : ahead
    }
}

/// A bucket of tokens, one for each call, that fills at a pace: kept as the moment at which it will be full again, so
/// that filling it takes no work.
struct CallRate {
    private var fullAt: UInt64 = 0

    /// How long it is until there is a token; 0: there is one.
    func nanosecondsToToken(_ pace: CallPace, now: UInt64) -> UInt64 {
        let (latest, overflow) = now.addingReportingOverflow(pace.aheadNanoseconds)
        return overflow || fullAt <= latest ? 0 : fullAt - latest
    }

    /// Takes a token.
    mutating func take(_ pace: CallPace, now: UInt64) { fullAt = max(fullAt, now) &+ pace.intervalNanoseconds }

    /// Whether it is as full as a new one.
    func isFull(now: UInt64) -> Bool { fullAt <= now }
}
