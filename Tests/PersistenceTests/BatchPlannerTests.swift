import TaskKit
import TestSupport
import Testing

@testable import PersistenceTasks

@Suite("The calls that share one commit")
struct BatchPlannerTests {
    private func read(_ session: SessionID) -> BatchPlanner.Item {
        .init(session: session, effect: .read, sizeBytes: 10)
    }
    private func write(_ session: SessionID) -> BatchPlanner.Item {
        .init(session: session, effect: .write, sizeBytes: 10)
    }

    @Test("Reads of sessions without an earlier write come before the commit, the others after it")
    func threeSteps() {
        let batch = BatchPlanner.plan([read(1), write(1), read(2), read(1), write(3)])
        #expect(batch.before == [0, 2])
        #expect(batch.writes == [1, 4])
        #expect(batch.after == [3])
        #expect(batch.count == 5)
    }

    @Test("A session's write after its late read ends the batch")
    func secondWrite() {
        let batch = BatchPlanner.plan([write(1), read(1), write(2), write(1), write(3)])
        #expect(batch == .init(before: [], writes: [0, 2], after: [1]))
    }

    @Test("A read before the session's first write does not end the batch")
    func readThenWrites() {
        let batch = BatchPlanner.plan([read(1), write(1), write(1)])
        #expect(batch == .init(before: [0], writes: [1, 2], after: []))
    }

    @Test("A batch is limited in calls and in size, and takes one call of any size")
    func bounds() {
        let items = Array(repeating: write(1), count: 10)
        #expect(BatchPlanner.plan(items, bounds: .init(calls: 3, sizeBytes: 1000)).count == 3)
        #expect(BatchPlanner.plan(items, bounds: .init(calls: 100, sizeBytes: 45)).count == 4)
        #expect(BatchPlanner.plan(items, bounds: .init(calls: 100, sizeBytes: 1)).count == 1)
        #expect(BatchPlanner.plan([], bounds: .init()).count == 0)
    }

    /// Carries out the whole queue as the lane does, on a model where a write appends its position to a list. Returns
    /// the writes of its own session that each read saw.
    private func seenByReads(_ items: [BatchPlanner.Item]) -> (seen: [Int: [Int]], writes: [SessionID: [Int]]) {
        var seen: [Int: [Int]] = [:]
        var writes: [SessionID: [Int]] = [:]
        var start = 0
        while start < items.count {
            let batch = BatchPlanner.plan(items[start...], bounds: .init(calls: 12, sizeBytes: 400))
            for index in batch.before { seen[start + index] = writes[items[start + index].session] ?? [] }
            for index in batch.writes { writes[items[start + index].session, default: []].append(start + index) }
            for index in batch.after { seen[start + index] = writes[items[start + index].session] ?? [] }
            let taken = (batch.before + batch.writes + batch.after).sorted()
            #expect(taken == Array(0..<batch.count))
            #expect(batch.count > 0)
            start += max(batch.count, 1)
        }
        return (seen, writes)
    }

    @Test("Reads see exactly their session's earlier writes, and writes keep their order, in random queues")
    func property() {
        var generator = SeededGenerator(seed: 20_240_817)
        for _ in 0..<400 {
            let items = (0..<Int.random(in: 1...60, using: &generator)).map { _ in
                let session = SessionID(Int.random(in: 1...5, using: &generator))
                return BatchPlanner.Item(
                    session: session, effect: Bool.random(using: &generator) ? .read : .write,
                    sizeBytes: Int.random(in: 0...90, using: &generator))
            }
            let (seen, writes) = seenByReads(items)
            for (index, item) in items.enumerated() where item.effect == .read {
                let earlier = items.indices.prefix(index).filter {
                    items[$0].session == item.session && items[$0].effect == .write
                }
                #expect(seen[index] == Array(earlier))
            }
            for (_, order) in writes { #expect(order == order.sorted()) }
            let allWrites = items.indices.filter { items[$0].effect == .write }
            #expect(writes.values.flatMap { $0 }.sorted() == allWrites)
        }
    }
}
