internal import Synchronization

/// Wakes a Swift task that waits for one of several events. One task waits at a time; any thread may ring.
final class Bell: Sendable {
    private struct State {
        var isRung = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())
    private let host: Host

    init(_ host: Host) { self.host = host }

    /// Wakes the waiting task. If no task waits, the next wait returns immediately.
    func ring() {
        let waiter = state.withLock { state in
            state.isRung = state.waiter == nil
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// Waits until the bell rings.
    ///
    /// - Throws: `CancellationError` if the Swift task is cancelled.
    func wait() async throws {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isRung = state.withLock { state in
                    guard !state.isRung, !Task.isCancelled else {
                        state.isRung = false
                        return true
                    }
                    state.waiter = continuation
                    return false
                }
                if isRung { continuation.resume() }
            }
        } onCancel: {
            // Never immediately: the handler runs while Swift updates its record of the task that this would resume.
            host.post { self.ring() }
        }
        try Task.checkCancellation()
    }
}
