internal import CTaskPlugin
internal import Synchronization

extension PluginContext {
    /// Calls `body` on the loop thread once, after that time: never early, at best to the millisecond. Any thread.
    /// Within `async` code, `Task.sleep` does as well.
    @discardableResult
    public func timer(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> PluginTimer {
        PluginTimer(delay, every: nil, runtime.host, log, body)
    }

    /// Calls `body` on the loop thread at this interval, the first time when it has passed once, until the timer is
    /// cancelled or the plugin stops. Times that have passed while the loop was busy are left out. Any thread.
    @discardableResult
    public func timer(every interval: Duration, _ body: @escaping @Sendable () -> Void) -> PluginTimer {
        PluginTimer(interval, every: max(interval, .milliseconds(1)), runtime.host, log, body)
    }
}

/// A timer of a plugin, which goes on even if no code keeps it. Any thread.
public final class PluginTimer: Sendable {
    private let host: Host
    private let log: PluginLog
    private let interval: Duration?
    private let body: @Sendable () -> Void
    /// Loop thread: the timer's number, and when it fires.
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

    /// It no longer fires; on the loop thread immediately, on another one soon.
    public func cancel() {
        isOver.store(true, ordering: .releasing)
        host.onLoopThread {
            let number = self.state.withLock { state in
                defer { state.number = 0 }
                return state.number
            }
            guard number > 0 else { return }
            self.host.unwatch(number)
            // What the timer held.
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
        log.warning("a timer does not run: the plugin has too many, or stops")
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
