internal import Synchronization

/// Wakes up a Swift task that waits for one of several things. One waits at a time; any thread rings.
final class Bell: Sendable {
    private struct State {
        var isRung = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())
    private let host: Host

    init(_ host: Host) { self.host = host }

    /// Something has happened. Nobody waits: the next one does not.
    func ring() {
        let waiter = state.withLock { state in
            state.isRung = state.waiter == nil
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// Waits until it has been rung.
    ///
    /// - Throws: `CancellationError` where the Swift task is cancelled.
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
            // Never immediately: the handler runs inside Swift's bookkeeping of the task that this would resume.
            host.post { self.ring() }
        }
        try Task.checkCancellation()
    }
}
