import BridgeJSON
import BridgeMessage
import TestSupport
import Testing

@testable import TaskRuntime

@Suite("The order of tables")
struct TableOrderTests {
    @Test("Calls are in the order of their numbers, also after some have ended", arguments: 0..<20 as Range<UInt64>)
    func calls(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var order = CallOrder()
        var indices: [Int: Int] = [:]
        var numbers: [Int: UInt64] = [:]
        for number in 1...2_000 as ClosedRange<UInt64> {
            let slot = Int(number)
            indices[slot] = order.append(number: number, slot: slot)
            numbers[slot] = number
            while !numbers.isEmpty, Int.random(in: 0..<10, using: &generator) < 5 {
                let ended = numbers.keys.sorted()[Int.random(in: 0..<numbers.count, using: &generator)]
                numbers[ended] = nil
                order.remove(at: indices.removeValue(forKey: ended) ?? -1)
                if order.hasManyGaps { order.close { indices[$0] = $1 } }
            }
            #expect(order.entries.count <= 64 + 4 * numbers.count)
        }
        #expect(order.entries.filter { $0.slot >= 0 }.map(\.number) == numbers.values.sorted())
        for number in numbers.values { #expect(order.entries[order.index(after: number - 1)].number == number) }
    }

    @Test("Tasks are in the order of the bytes of their names")
    func registry() throws {
        var generator = SeededGenerator(seed: 18)
        let registry = TaskRegistry()
        let provider = BridgeTasks(Bench().runtime.calls, [])
        var names: Set<String> = []
        for _ in 0..<3_000 {
            let name = (0..<Int.random(in: 1...4, using: &generator)).map { _ in
                ["a", "b", "B", ".", "é", "e\u{301}"].randomElement(using: &generator) ?? ""
            }.joined()
            if let entry = registry.find(name) {
                registry.remove(entry)
            } else {
                registry.insert(TaskEntry(TaskDescription(name: name), index: 0, provider: provider))
            }
        }
        for entry in registry.all { names.insert(entry.name) }
        let sorted = registry.all.map { Array($0.name.utf8) }
        #expect(zip(sorted, sorted.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
        for entry in registry.all { #expect(registry.find(entry.name) === entry) }
        let middle = registry.all[registry.count / 2]
        #expect(registry.after(middle.name).first === registry.all[registry.count / 2 + 1])
        #expect(registry.after("").count == registry.count)
    }

    @Test("Records of ended calls are released, and the handle of an old call never refers to a new call")
    func records() throws {
        let bench = Bench()
        let clients = (0..<8).map { _ in bench.client() }
        for client in clients {
            for id in 0..<1_000 { client.send(#"{"task":"slow","callbackId":\#(id)}"#) }
        }
        #expect(bench.runtime.calls.recordCount >= 8_000)
        let handles = bench.host.started.map(\.handle)
        bench.runtime.trimMemory()
        #expect(bench.runtime.calls.recordCount >= 8_000)
        for index in handles.indices.dropFirst() { bench.reply(index, "1") }
        bench.runtime.trimMemory()
        #expect(bench.runtime.calls.recordCount <= 1_024)
        // The first call continues.
        #expect(bench.runtime.calls.call(handles[0]) != nil)
        for client in clients {
            for id in 0..<1_000 { client.send(#"{"task":"slow","callbackId":\#(id)}"#) }
        }
        for handle in handles.dropFirst() { #expect(bench.runtime.calls.call(handle) == nil) }
        #expect(bench.runtime.callsInFlight == 8_000)
    }
}
