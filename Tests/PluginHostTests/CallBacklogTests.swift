import Testing

@testable import trestle_plugin_host

@Suite("Calls that wait for a plugin's process")
struct CallBacklogTests {
    private func call(_ id: UInt64) -> CallBacklog.Call {
        .init(id: id, task: 0, options: [], caller: [], wantsProgress: false, deadlineNanoseconds: nil)
    }

    private func begun(_ waiting: inout CallBacklog) -> [UInt64] {
        var begun: [UInt64] = []
        while let next = waiting.popFirst() { begun.append(next.id) }
        return begun
    }

    @Test("Users take turns, and the calls of each user keep their order")
    func turns() {
        var waiting = CallBacklog()
        for id in 1...4 as ClosedRange<UInt64> { waiting.append(call(id), of: 1000) }
        waiting.append(call(5), of: 2000)
        waiting.append(call(6), of: 2000)
        #expect(begun(&waiting) == [1, 5, 2, 6, 3, 4])
        #expect(waiting.isEmpty)
    }

    @Test("A cancelled call is removed and uses no turn of its user")
    func cancelled() {
        var waiting = CallBacklog()
        for id in 1...3 as ClosedRange<UInt64> { waiting.append(call(id), of: 1000) }
        let removed = [1, 1, 9].map { waiting.remove($0) }
        #expect(removed == [true, false, false])
        #expect(begun(&waiting) == [2, 3])
    }

    @Test("Nothing is left if all calls are cancelled")
    func allCancelled() {
        var waiting = CallBacklog()
        for id in 1...3 as ClosedRange<UInt64> { waiting.append(call(id), of: 1000) }
        for id in 1...3 as ClosedRange<UInt64> { _ = waiting.remove(id) }
        #expect(waiting.isEmpty)
        waiting.append(call(4), of: 1000)
        #expect(begun(&waiting) == [4])
    }
}
