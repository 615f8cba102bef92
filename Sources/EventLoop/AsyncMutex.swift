/// Lets one piece of asynchronous work after the other have its turn, in the order in which they ask.
@LoopActor
public final class AsyncMutex {
    private var isTaken = false
    private let waiting = AsyncSignal<Void>()

    /// No user has the turn.
    public nonisolated init() {}

    /// Does the work when its turn comes, also where the Swift task was cancelled meanwhile.
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

    /// Not cancelled: who gave up its position in the queue would have to wake the next.
    private func waitForEnd() async {
        let waiting = waiting
        await Task { @LoopActor in _ = await waiting.wait() }.value
    }
}
