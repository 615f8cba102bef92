import BridgeJSON
import TestSupport
import Testing

@testable import TaskRuntime

@Suite("Deadlines")
struct DeadlineTests {
    let bench = Bench()

    private var deadlines: (count: Int, keptCount: Int) { bench.runtime.calls.deadlines }

    private func begin(_ client: FakeClient, id: Int, timeoutMilliseconds: Int) {
        client.send(#"{"task":"work","callbackId":\#(id),"timeout":\#(timeoutMilliseconds)}"#)
    }

    @Test("Calls end at their deadlines, the earliest first, also after some were answered", arguments: 0..<20)
    func order(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        let client = bench.client()
        let timeouts = (0..<300).map { _ in Int.random(in: 1...500, using: &generator) }
        for (id, timeout) in timeouts.enumerated() { begin(client, id: id, timeoutMilliseconds: timeout) }
        var open = Set(timeouts.indices)
        for id in timeouts.indices where Bool.random(using: &generator) {
            bench.reply(id, "1")
            open.remove(id)
        }
        _ = client.read()
        for millisecond in 1...500 {
            bench.clock.advance(.milliseconds(1))
            let ended = client.read().compactMap { $0["callbackId"]?.int64Value.map(Int.init) }
            let expected = open.filter { timeouts[$0] == millisecond }
            #expect(Set(ended) == expected, "after \(millisecond) ms")
            open.subtract(expected)
        }
        #expect(open.isEmpty)
        #expect(deadlines.count == 0)
    }

    @Test("The number of stored deadlines stays proportional to the calls in flight")
    func bound() {
        let client = bench.client()
        for id in 0..<40 { begin(client, id: id, timeoutMilliseconds: 100_000) }
        var maximumKept = 0
        for index in 40..<2_000 {
            begin(client, id: index, timeoutMilliseconds: 200_000)
            bench.reply(index, "1")
            maximumKept = max(maximumKept, deadlines.keptCount)
        }
        #expect(deadlines.count == 40)
        #expect(maximumKept <= 2 * 41 + 65)
        for id in 0..<40 { bench.reply(id, "1") }
        #expect(deadlines.keptCount == 0)
    }

    @Test("A call that reuses the record of an ended call has its own deadline")
    func reusedRecord() {
        let client = bench.client()
        begin(client, id: 1, timeoutMilliseconds: 50)
        begin(client, id: 2, timeoutMilliseconds: 10)
        bench.reply(1, "1")
        begin(client, id: 3, timeoutMilliseconds: 100)
        _ = client.read()
        bench.clock.advance(.milliseconds(10))
        #expect(client.read().isEmpty, "the second call has ended before its deadline")
        bench.clock.advance(.milliseconds(40))
        #expect(client.read().map { $0["callbackId"] } == [1])
        bench.clock.advance(.milliseconds(50))
        #expect(client.read().map { $0["callbackId"] } == [3])
    }

    @Test("Trimming memory keeps the deadlines of calls in flight")
    func trimmed() {
        let client = bench.client()
        for id in 0..<50 { begin(client, id: id, timeoutMilliseconds: 10 + id) }
        for id in 0..<49 { bench.reply(id, "1") }
        _ = client.read()
        bench.runtime.trimMemory()
        #expect(deadlines.keptCount == 1)
        bench.clock.advance(.milliseconds(59))
        #expect(client.read().map { $0["callbackId"] } == [49])
    }
}
