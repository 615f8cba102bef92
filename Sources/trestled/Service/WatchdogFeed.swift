import EventLoop

/// Notifies the watchdog that the daemon lives, at half of the interval that it expects. From the loop itself: a loop
/// that stands still does not feed it, and the manager restarts the daemon.
@LoopActor
final class WatchdogFeed {
    private var timer: LoopTimer?

    /// - Parameter interval: how long the watchdog waits at most.
    init(interval: Duration, _ feed: @escaping @LoopActor () -> Void) {
        let timer = LoopTimer { [weak self] in
            feed()
            self?.schedule(interval)
        }
        self.timer = timer
        feed()
        schedule(interval)
    }

    /// The timer resolves milliseconds; an interval below them would keep the loop from everything else.
    private func schedule(_ interval: Duration) { timer?.schedule(after: max(interval / 2, .milliseconds(1))) }
}
