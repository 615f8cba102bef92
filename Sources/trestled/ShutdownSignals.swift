import EventLoop
import Glibc

/// Handles SIGTERM and SIGINT: the first requests an orderly end, the second ends the process immediately.
@LoopActor
final class ShutdownSignals {
    private var watchers: [SignalWatcher] = []
    private var firstSignal: String?
    private var waiter: CheckedContinuation<String, Never>?

    func watch() throws(SystemError) {
        for (signal, name) in [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT")] {
            watchers.append(try SignalWatcher(signal) { [weak self] in self?.receive(signal, name) })
        }
    }

    /// Waits for the first signal, which may already have arrived.
    func first() async -> String {
        if let firstSignal { return firstSignal }
        return await withCheckedContinuation { waiter = $0 }
    }

    private func receive(_ signal: Int32, _ name: String) {
        // The shell's convention for a process that a signal ended.
        guard firstSignal == nil else { _exit(128 + signal) }
        firstSignal = name
        waiter?.resume(returning: name)
        waiter = nil
    }
}
