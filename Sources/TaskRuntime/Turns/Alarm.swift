/// The time at which the clock wakes the runtime: the earliest of the times that components request. Loop thread only.
///
/// docs/architecture.md explains `@exclusivity(unchecked)`.
final class Alarm {
    private let clock: any RuntimeClock
    @exclusivity(unchecked) private var armedFor = RuntimeInstant.never

    init(_ clock: any RuntimeClock) { self.clock = clock }

    /// Requests a wake of the runtime at this time at the latest; ``RuntimeInstant/never`` requests none. Earlier
    /// requests remain: most calls end long before their deadline, and resetting the clock for each would cost time.
    @inline(__always)
    func wake(by moment: RuntimeInstant) {
        guard moment < armedFor else { return }
        armedFor = moment
        clock.wake(at: moment)
    }

    /// Clears the request after the clock has woken the runtime. Every component then requests its time again.
    func rang() { armedFor = .never }
}
