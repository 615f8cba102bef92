import EventLoop

/// Sends watchdog messages at half of the expected interval. It uses the loop itself: if the loop blocks, the messages
/// stop and the manager restarts the daemon.
@LoopActor
final class WatchdogFeed {
    private var timer: LoopTimer?

    /// - Parameter interval: The longest interval that the watchdog accepts.
    init(interval: Duration, _ feed: @escaping @LoopActor () -> Void) {
        let timer = LoopTimer { [weak self] in
            feed()
            self?.schedule(interval)
        }
        self.timer = timer
        feed()
        schedule(interval)
    }

    /// The timer has a resolution of milliseconds; a shorter interval would occupy the loop completely.
    private func schedule(_ interval: Duration) { timer?.schedule(after: max(interval / 2, .milliseconds(1))) }
}
