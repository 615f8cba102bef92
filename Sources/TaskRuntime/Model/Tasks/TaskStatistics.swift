/// What happened to one task's calls. Plain counters; loop thread only.
struct TaskStatistics {
    /// Calls that were begun or refused by the task's own bounds.
    var calls: UInt64 = 0
    /// Those that ended with an error.
    var errors: UInt64 = 0
    /// Those that have not ended.
    var inFlight = 0
    /// Made with the first call that ends, so that a task that is never called costs no memory.
    private(set) var latency: LatencyHistogram?
    private let measuresLatency: Bool

    /// - Parameter measuresLatency: false: nobody is shown how long its calls take.
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

    /// A call in flight has come from elsewhere.
    mutating func enter() {
        calls += 1
        inFlight += 1
    }

    /// A call in flight goes elsewhere.
    mutating func leave() {
        calls -= 1
        inFlight -= 1
    }

    /// Goes on with what was counted for another task of the same name. What is in flight there ends there.
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
