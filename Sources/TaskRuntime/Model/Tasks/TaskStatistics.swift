/// Counters of one task's calls. Loop thread only.
struct TaskStatistics {
    /// Calls that began or were refused by the task's own limits.
    var calls: UInt64 = 0
    /// Calls that ended with an error.
    var errors: UInt64 = 0
    /// Calls that have not ended.
    var inFlight = 0
    /// Created when the first call ends, so that a task that is never called uses no memory.
    private(set) var latency: LatencyHistogram?
    private let measuresLatency: Bool

    /// - Parameter measuresLatency: Whether durations are recorded; `false` if they are never shown.
    init(measuresLatency: Bool = true) { self.measuresLatency = measuresLatency }

    @inline(__always)
    mutating func recordEnd(afterNanoseconds nanoseconds: UInt64, isFailure: Bool) {
        inFlight -= 1
        if isFailure { errors += 1 }
        if let latency { return latency.record(nanoseconds: nanoseconds) }
        guard measuresLatency else { return }
        let latency = LatencyHistogram()
        latency.record(nanoseconds: nanoseconds)
        self.latency = latency
    }

    /// Counts a call in flight that was moved to this task.
    mutating func enter() {
        calls += 1
        inFlight += 1
    }

    /// Removes a call in flight that is moved to another task.
    mutating func leave() {
        calls -= 1
        inFlight -= 1
    }

    /// Takes over the counts of another task of the same name. Calls in flight there end there.
    mutating func takeOver(_ other: inout TaskStatistics) {
        let staying = UInt64(other.inFlight)
        calls += other.calls - staying
        errors += other.errors
        other.calls = staying
        other.errors = 0
        guard let theirs = other.latency else { return }
        other.latency = nil
        guard let latency else { return latency = theirs }
        latency.add(theirs)
        theirs.free()
    }
}
