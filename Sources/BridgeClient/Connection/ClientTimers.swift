// What this client needs of time: the loop's own, and in tests a clock that they move.

import EventLoop

/// A clock, and timers on it.
@LoopActor
protocol ClientTimers {
    var now: MonotonicInstant { get }
    /// Fires once after that time, unless it is closed before. Held by the clock until then.
    func after(_ delay: Duration, _ fire: @escaping @LoopActor () -> Void) -> any ClientTimer
}

/// A timer that runs, or has fired.
@LoopActor
protocol ClientTimer: AnyObject {
    /// No longer fires. Further calls do nothing.
    func close()
}

/// Those of the loop.
struct LoopTimers: ClientTimers {
    var now: MonotonicInstant { EventLoop.now }

    func after(_ delay: Duration, _ fire: @escaping @LoopActor () -> Void) -> any ClientTimer {
        var timer: LoopTimer?
        let started = LoopTimer {
            // An open timer is kept alive by the loop.
            timer?.close()
            timer = nil
            fire()
        }
        timer = started
        started.schedule(after: delay)
        return started
    }
}

extension LoopTimer: ClientTimer {}
