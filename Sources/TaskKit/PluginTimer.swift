internal import CTaskPlugin
internal import Synchronization

extension PluginContext {
    /// Calls `body` on the loop thread once after the delay: never early, with a resolution of one millisecond at best.
    /// Any thread. In `async` code, `Task.sleep` works as well.
    @discardableResult
    public func timer(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> PluginTimer {
        PluginTimer(delay, every: nil, runtime.host, log, body)
    }

    /// Calls `body` on the loop thread at this interval, first after one interval, until the timer is cancelled or the
    /// plugin stops. Times that pass while the loop is busy are skipped. Any thread.
    @discardableResult
    public func timer(every interval: Duration, _ body: @escaping @Sendable () -> Void) -> PluginTimer {
        PluginTimer(interval, every: max(interval, .milliseconds(1)), runtime.host, log, body)
    }
}

/// A timer of a plugin. It continues even if no code holds a reference to it. Any thread.
public final class PluginTimer: Sendable {
    private let host: Host
    private let log: PluginLog
    private let interval: Duration?
    private let body: @Sendable () -> Void
    /// The timer's number and the time at which it fires. Loop thread.
    private let state = Mutex((number: Int64(0), due: ContinuousClock.now))
    private let isOver = Atomic<Bool>(false)

    init(
        _ delay: Duration, every interval: Duration?, _ host: Host, _ log: PluginLog,
        _ body: @escaping @Sendable () -> Void
    ) {
        (self.host, self.log, self.interval, self.body) = (host, log, interval, body)
        let due = ContinuousClock.now + delay
        host.onLoopThread { self.schedule(at: due) }
    }

    /// Cancels the timer: immediately on the loop thread, otherwise soon after.
    public func cancel() {
        isOver.store(true, ordering: .releasing)
        host.onLoopThread {
            let number = self.state.withLock { state in
                defer { state.number = 0 }
                return state.number
            }
            guard number > 0 else { return }
            self.host.unwatch(number)
            // Releases the reference that the timer held.
            Unmanaged.passUnretained(self).release()
        }
    }

    private func schedule(at due: ContinuousClock.Instant) {
        guard !isOver.load(ordering: .acquiring) else { return }
        let argument = Unmanaged.passRetained(self)
        let number = host.timer(
            due - .now,
            // `!`: the argument given below.
            { Unmanaged<PluginTimer>.fromOpaque($0!).takeRetainedValue().fire() }, argument.toOpaque())
        state.withLock { $0 = (max(0, number), due) }
        guard number < 0 else { return }
        argument.release()
        log.warning("a timer was not started: the plugin has too many, or is stopping")
    }

    private func fire() {
        let due = state.withLock { state in
            state.number = 0
            return state.due
        }
        guard !isOver.load(ordering: .acquiring) else { return }
        body()
        guard let interval else { return }
        // The next time that has not passed.
        let passed = max(.zero, ContinuousClock.now - due)
        schedule(at: due + interval * (Int(passed / interval) + 1))
    }
}
