internal import DequeModule

/// A lock for asynchronous work: one piece of work runs after the other, in the order of their requests.
@LoopActor
public final class AsyncMutex {
    private var isTaken = false
    /// The work that waits. While there is any, the lock stays taken: each end passes it to the first.
    private var waiting: Deque<CheckedContinuation<Void, Never>> = []

    /// Creates a free lock.
    public nonisolated init() {}

    /// Runs `body` when its turn comes, even if the Swift task is cancelled in the meantime.
    public func take<Value, Failure: Error>(
        _ body: @LoopActor () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        if isTaken {
            // Without cancellation: the work runs in its turn.
            await withCheckedContinuation { waiting.append($0) }
        } else {
            isTaken = true
        }
        defer {
            if let next = waiting.popFirst() { next.resume() } else { isTaken = false }
        }
        return try await body()
    }
}
