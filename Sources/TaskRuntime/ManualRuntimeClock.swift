/// A clock that advances only on request. For tests of plugins and of this package, and for fuzzing.
package final class ManualRuntimeClock: RuntimeClock {
    private var time = RuntimeInstant(nanoseconds: 1_000_000_000)
    /// The time that passes with each read of the clock. Simulates the duration of work in tests that divide it into
    /// steps.
    package var tick = Duration.zero
    /// The next time at which the clock wakes the runtime; `nil` for never.
    package private(set) var wakeTime: RuntimeInstant?
    /// The runtime that the clock wakes.
    package weak var runtime: TaskRuntime?

    /// A clock whose first time is not zero.
    package init() {}

    package var now: RuntimeInstant {
        defer { time = time.advanced(by: tick) }
        return time
    }

    package func wake(at moment: RuntimeInstant?) { wakeTime = moment }

    /// Advances the clock and wakes the runtime at each requested time on the way.
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
