/// The one moment at which the clock wakes the runtime: the earliest of those that components ask for. Loop thread
/// only.
///
/// `@exclusivity(unchecked)`: docs/architecture.md says why.
final class Alarm {
    private let clock: any RuntimeClock
    @exclusivity(unchecked) private var armedFor = RuntimeInstant.never

    init(_ clock: any RuntimeClock) { self.clock = clock }

    /// Wakes the runtime at this moment at the latest; ``RuntimeInstant/never``: no one asks. What was asked for before
    /// stays: most calls end long before their deadline, and the clock would be set with each of them.
    @inline(__always)
    func wake(by moment: RuntimeInstant) {
        guard moment < armedFor else { return }
        armedFor = moment
        clock.wake(at: moment)
    }

    /// The clock woke the runtime: every component asks again.
    func rang() { armedFor = .never }
}
