import EventLoop
import Testing

@Suite(.timeLimit(.minutes(20))) @LoopActor struct AsyncSignalTests {
    @Test("Each waiting task gets the value of its turn; a cancelled one stops waiting and takes no turn")
    func order() async {
        let list = AsyncSignal<Int>()
        let tasks = ["a", "b", "c"].map { _ in
            Task.immediate { await list.wait() }
        }
        tasks[0].cancel()
        #expect(await tasks[0].value == nil)
        list.resumeFirst(1)
        list.resumeFirst(2)
        list.resumeFirst(3)
        // The order in which they run is not compared: Swift resumes a continuation through its thread pool.
        #expect(await tasks[1].value == 1)
        #expect(await tasks[2].value == 2)
        #expect(list.isEmpty)
    }

    @Test("A task that is cancelled before it waits does not wait")
    func cancelledBefore() async {
        let list = AsyncSignal<Int>()
        let value = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await list.wait()
        }.value
        #expect(value == nil)
    }
}
