public import EventLoop
public import TaskRuntime

/// The runtime's clock in the daemon: the loop's time, and one loop timer for the earliest deadline.
@LoopActor
public final class LoopClock {
    private var timer: LoopTimer?
    /// The runtime owns its clock, and the timer does not outlive the clock, so `unowned(unsafe)` is safe here. A weak
    /// reference would make every other use of the runtime slower.
    private unowned(unsafe) var runtime: TaskRuntime?

    /// Creates a clock without a runtime.
    public init() {}

    isolated deinit { timer?.close() }

    /// Sets the runtime that the clock wakes.
    public func attach(_ runtime: TaskRuntime) { self.runtime = runtime }
}

extension LoopClock: @LoopActor RuntimeClock {
    /// The current time, not that of the turn: calls that end within a turn are measured with it.
    public var now: RuntimeInstant { RuntimeInstant(nanoseconds: MonotonicInstant.now().nanoseconds) }

    /// Requests one call of the runtime's `expire()` at this moment; `nil` cancels the request.
    public func wake(at moment: RuntimeInstant?) {
        guard let moment else {
            timer?.cancel()
            return
        }
        // The timer ends with this clock. A weak reference would make every reading of the time slower.
        let timer = timer ?? LoopTimer { [unowned self] in runtime?.expire() }
        self.timer = timer
        timer.schedule(at: MonotonicInstant(nanoseconds: moment.nanoseconds))
    }
}
