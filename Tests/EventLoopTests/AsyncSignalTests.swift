import EventLoop
import Testing

@Suite @LoopActor struct AsyncSignalTests {
    @Test("Who waits is resumed in order; a cancelled one waits no longer and takes nobody's turn")
    func order() async {
        let list = AsyncSignal<Int>()
        var seen: [String] = []
        let tasks = ["a", "b", "c"].map { name in
            Task.immediate {
                let value = await list.wait()
                seen.append("\(name)\(value.map(String.init) ?? "-")")
            }
        }
        tasks[0].cancel()
        await tasks[0].value
        list.resumeFirst(1)
        list.resumeFirst(2)
        list.resumeFirst(3)
        for task in tasks { await task.value }
        #expect(seen == ["a-", "b1", "c2"])
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
