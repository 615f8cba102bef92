/// A clock that stands still until it is moved: for tests of plugins, of this package, and for fuzzing.
package final class ManualRuntimeClock: RuntimeClock {
    private var time = RuntimeInstant(nanoseconds: 1_000_000_000)
    /// How much time passes with each look at the clock: what work takes, where a test cuts it into steps.
    package var tick = Duration.zero
    /// When it wakes the runtime next; nil: not at all.
    package private(set) var wakeTime: RuntimeInstant?
    /// What it wakes.
    package weak var runtime: TaskRuntime?

    /// A clock at a moment that is not zero.
    package init() {}

    package var now: RuntimeInstant {
        defer { time = time.advanced(by: tick) }
        return time
    }

    package func wake(at moment: RuntimeInstant?) { wakeTime = moment }

    /// Moves on, waking the runtime as often as it asked for on the way.
    package func advance(_ duration: Duration) {
        let end = time.advanced(by: duration)
        while let wake = wakeTime, wake <= end {
            time = max(time, wake)
            wakeTime = nil
            runtime?.expire()
        }
        time = max(time, end)
    }
}
