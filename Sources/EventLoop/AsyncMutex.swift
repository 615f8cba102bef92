/// A lock for asynchronous work: one piece of work runs after the other, in the order of their requests.
@LoopActor
public final class AsyncMutex {
    private var isTaken = false
    private let waiting = AsyncSignal<Void>()

    /// Creates a free lock.
    public nonisolated init() {}

    /// Runs `body` when its turn comes, even if the Swift task is cancelled in the meantime.
    public func take<Value, Failure: Error>(
        _ body: @LoopActor () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        while isTaken { await waitForEnd() }
        isTaken = true
        defer {
            isTaken = false
            waiting.resumeFirst(())
        }
        return try await body()
    }

    /// Waits without cancellation: a task that left the queue would have to wake the next one.
    private func waitForEnd() async {
        let waiting = waiting
        await Task { @LoopActor in _ = await waiting.wait() }.value
    }
}
