// The client's source of time: the loop's clock, and in tests a clock that they control.

import EventLoop

/// A clock, and timers on it.
@LoopActor
protocol ClientTimers {
    var now: MonotonicInstant { get }
    /// Calls `fire` once after that time, unless the timer is closed before. The clock retains the timer until then.
    func after(_ delay: Duration, _ fire: @escaping @LoopActor () -> Void) -> any ClientTimer
}

/// A timer that is running or has fired.
@LoopActor
protocol ClientTimer: AnyObject {
    /// Stops the timer. Further calls do nothing.
    func close()
}

/// The loop's clock and timers.
struct LoopTimers: ClientTimers {
    var now: MonotonicInstant { EventLoop.now }

    func after(_ delay: Duration, _ fire: @escaping @LoopActor () -> Void) -> any ClientTimer {
        var timer: LoopTimer?
        let started = LoopTimer {
            // The loop retains an open timer.
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
