import CLibuv

/// A timer on the loop: fires once per `schedule`, never early, with millisecond resolution.
///
/// The loop keeps an open timer alive: the owner must call `close()`.
@LoopActor
public final class LoopTimer {
    private var fire: (@LoopActor () -> Void)?
    private var handle: LoopHandle<uv_timer_t>?

    /// Creates a timer that is not scheduled yet.
    public init(_ fire: @escaping @LoopActor () -> Void) {
        self.fire = fire
        do {
            let handle = try LoopHandle("uv_timer_init", uv_timer_init)
            handle.retain(self)
            self.handle = handle
        } catch {
            preconditionFailure("uv_timer_init has no way to fail: \(error)")
        }
    }

    /// Fires at that time, or in the next turn if it has passed. Replaces an earlier schedule.
    public func schedule(at deadline: MonotonicInstant) {
        guard let handle else { return }
        // libuv's own clock is CLOCK_MONOTONIC in whole milliseconds, rounded down; the deadline is rounded up, so the
        // timer never fires early.
        let due = deadline.nanoseconds / 1_000_000 + (deadline.nanoseconds % 1_000_000 == 0 ? 0 : 1)
        let current = uv_now(Loop.shared.raw)
        let delay = max(due > current ? due - current : 0, Loop.shared.isFiringTimers ? 1 : 0)
        require(uv_timer_start(handle.raw, Self.fired, delay, 0), "uv_timer_start")
    }

    /// Fires after that time, counted from the turn's time.
    public func schedule(after delay: Duration) {
        schedule(at: EventLoop.now + delay)
    }

    /// Stops the timer until it is scheduled again.
    public func cancel() {
        guard let handle else { return }
        require(uv_timer_stop(handle.raw), "uv_timer_stop")
    }

    /// Ends the timer. Further calls do nothing.
    public func close() {
        handle?.close()
        handle = nil
        fire = nil
    }

    private static let fired: uv_timer_cb = { handle in
        guard let timer = owner(handle?.pointee.data, as: LoopTimer.self) else { return }
        LoopActor.assumeIsolated(passing: timer) { timer in
            Loop.shared.isFiringTimers = true
            defer { Loop.shared.isFiringTimers = false }
            timer.fire?()
        }
    }
}
