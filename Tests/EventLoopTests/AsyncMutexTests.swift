import EventLoop
import Testing

@Suite(.timeLimit(.minutes(20))) @LoopActor struct AsyncMutexTests {
    @Test("Work runs in the order of its requests, also if a request arrives just when other work ends")
    func order() async {
        let mutex = AsyncMutex()
        let gate = AsyncSignal<Void>()
        var order: [String] = []
        let first = Task.immediate { @LoopActor in await mutex.take { _ = await gate.wait() } }
        let second = Task.immediate { @LoopActor in await mutex.take { order.append("second") } }
        gate.resumeFirst(())
        await first.value
        // The first work has ended; the second may not have been resumed yet.
        await mutex.take { order.append("third") }
        await second.value
        #expect(order == ["second", "third"])
    }

    @Test("Work whose Swift task is cancelled while it waits runs in its turn")
    func cancelled() async {
        let mutex = AsyncMutex()
        let gate = AsyncSignal<Void>()
        let first = Task.immediate { @LoopActor in await mutex.take { _ = await gate.wait() } }
        let second = Task.immediate { @LoopActor in await mutex.take { true } }
        second.cancel()
        gate.resumeFirst(())
        await first.value
        #expect(await second.value)
    }
}
