public import EventLoop
public import TaskRuntime

/// The runtime's clock in service: the loop's time, and one timer of the loop for the earliest deadline.
@LoopActor
public final class LoopClock {
    private var timer: LoopTimer?
    /// The runtime owns its clock, and this is not used once the clock has no timer: unsafe in form only. A weak
    /// reference would make every other use of the runtime slower.
    private unowned(unsafe) var runtime: TaskRuntime?

    /// A clock that wakes no one yet.
    public init() {}

    isolated deinit { timer?.close() }

    /// The runtime that is to be woken.
    public func attach(_ runtime: TaskRuntime) { self.runtime = runtime }
}

extension LoopClock: @LoopActor RuntimeClock {
    /// The time now, not that of the turn: calls that end within a turn are timed by it.
    public var now: RuntimeInstant { RuntimeInstant(nanoseconds: MonotonicInstant.now().nanoseconds) }

    /// Has the runtime expire its calls at this moment.
    public func wake(at moment: RuntimeInstant?) {
        guard let moment else {
            timer?.cancel()
            return
        }
        // The timer ends with this clock. A weak reference would make every look at the time slower.
        let timer = timer ?? LoopTimer { [unowned self] in runtime?.expire() }
        self.timer = timer
        timer.schedule(at: MonotonicInstant(nanoseconds: moment.nanoseconds))
    }
}
