import TaskKit
import TestSupport
import Testing

@testable import PersistenceTasks

/// A numbered call that does nothing.
private final class NumberedCall: StoreCall {
    let number: Int
    let session: SessionID
    let user: UInt32
    let lane: StoreLane
    let effect: BatchPlanner.Effect
    let sizeBytes: Int

    /// - Parameter user: `nil` derives the user from the session's number.
    init(
        _ number: Int, _ session: SessionID, _ lane: StoreLane, isWrite: Bool, sizeBytes: Int = 10, user: UInt32? = nil
    ) {
        (self.number, self.session, self.lane, self.sizeBytes) = (number, session, lane, sizeBytes)
        // Some users have several sessions.
        self.user = user ?? UInt32(session.rawValue % 3)
        effect = isWrite ? .write : .read
    }

    var isCancelled: Bool { false }
    func carryOut(_ visit: StoreVisit) -> StoreWork { .result([]) }
    func answer(_ outcome: Result<[UInt8], BridgeError>) {}
}

extension CallQueues {
    /// Returns the numbered calls that wait for a lane.
    fileprivate mutating func take(_ lane: StoreLane) -> [NumberedCall] {
        var calls: [Call] = []
        take(lane, into: &calls)
        return calls.compactMap { $0 as? NumberedCall }
    }
}

@Suite("The calls that wait for others of their session")
struct CallQueuesTests {
    private func call(_ number: Int, _ session: SessionID, _ lane: StoreLane, sizeBytes: Int = 10) -> NumberedCall {
        NumberedCall(number, session, lane, isWrite: lane == .commits, sizeBytes: sizeBytes)
    }

    private func take(_ lane: StoreLane, _ queues: inout CallQueues) -> [Int] { queues.take(lane).map(\.number) }

    @Test("A read goes to its lane at once, whatever calls of other sessions are in progress")
    func othersDoNotWait() {
        var queues = CallQueues()
        #expect(queues.admit(call(0, 1, .commits)) == .first)
        #expect(queues.admit(call(1, 2, .queries)) == .first)
        #expect(queues.admit(call(2, 3, .reads)) == .first)
        #expect(take(.reads, &queues) == [2])
    }

    @Test("A read and all later calls of its session wait until the session's write is finished")
    func readAfterWrite() {
        var queues = CallQueues()
        let write = call(0, 1, .commits)
        #expect(queues.admit(write) == .first)
        #expect(queues.admit(call(1, 1, .reads)) == .queued)
        #expect(queues.admit(call(2, 1, .commits)) == .queued)
        #expect(take(.commits, &queues) == [0])
        #expect(take(.reads, &queues) == [])
        #expect(take(.commits, &queues) == [])
        #expect(queues.finish([write]) == [.reads])
        #expect(take(.reads, &queues) == [1])
        #expect(take(.commits, &queues) == [])
        #expect(queues.finish([call(1, 1, .reads)]) == [.commits])
        #expect(take(.commits, &queues) == [2])
    }

    @Test("Calls for the same lane do not wait for each other")
    func sameLane() {
        var queues = CallQueues()
        for number in 0..<3 { _ = queues.admit(call(number, 1, .commits)) }
        #expect(take(.commits, &queues) == [0, 1, 2])
    }

    @Test("A lane is woken once, until it has found no more calls")
    func waking() {
        var queues = CallQueues()
        #expect(queues.admit(call(0, 1, .reads)) == .first)
        #expect(queues.admit(call(1, 2, .reads)) == .queued)
        #expect(take(.reads, &queues) == [0, 1])
        #expect(queues.admit(call(2, 1, .reads)) == .queued)
        #expect(take(.reads, &queues) == [2])
        #expect(take(.reads, &queues) == [])
        #expect(queues.admit(call(3, 1, .reads)) == .first)
    }

    @Test("Users take turns, however many calls one of them has sent, and each session keeps its order")
    func turns() {
        var queues = CallQueues()
        let calls = [(1, 10), (1, 10), (2, 10), (1, 10), (3, 20), (3, 20), (4, 30)] as [(SessionID, UInt32)]
        for (number, (session, user)) in calls.enumerated() {
            _ = queues.admit(NumberedCall(number, session, .commits, isWrite: true, user: user))
        }
        #expect(take(.commits, &queues) == [0, 4, 6, 1, 5, 2, 3])
    }

    @Test("Calls that are put back come first, and calls that arrived meanwhile follow")
    func putBack() {
        var queues = CallQueues()
        for (number, user) in [10, 10, 20, 30].enumerated() {
            _ = queues.admit(NumberedCall(number, SessionID(user), .commits, isWrite: true, user: UInt32(user)))
        }
        let taken = queues.take(.commits)
        #expect(taken.map(\.number) == [0, 2, 3, 1])
        _ = queues.admit(NumberedCall(4, 40, .commits, isWrite: true, user: 40))
        _ = queues.admit(NumberedCall(5, 10, .commits, isWrite: true, user: 10))
        queues.putBack(Array(taken.dropFirst()), .commits)
        #expect(take(.commits, &queues) == [2, 3, 1, 4, 5])
    }

    @Test("A lane takes at most the calls that it carries out together; the queries lane takes one")
    func takenTogether() {
        var queues = CallQueues()
        for number in 0..<200 {
            for (index, lane) in StoreLane.allCases.enumerated() {
                _ = queues.admit(call(number, SessionID(number * 3 + index), lane))
            }
        }
        #expect(StoreLane.allCases.map { take($0, &queues).count } == [128, 32, 1])
    }

    @Test("The options of one session's unfinished calls are limited in bytes, including calls that wait")
    func bytes() {
        var queues = CallQueues()
        let half = call(0, 1, .commits, sizeBytes: Limits.waitingBytesPerSession / 2)
        #expect(queues.admit(half) == .first)
        #expect(queues.admit(call(1, 1, .reads, sizeBytes: Limits.waitingBytesPerSession / 2)) == .queued)
        #expect(queues.admit(call(2, 1, .reads, sizeBytes: 1)) == .refused)
        #expect(queues.admit(call(3, 1, .reads, sizeBytes: 0)) == .queued)
        #expect(queues.admit(call(4, 2, .commits)) == .queued)
        #expect(queues.count == 4)
        _ = queues.take(.commits)
        _ = queues.finish([half])
        #expect(queues.admit(call(5, 1, .reads, sizeBytes: 1)) == .queued)
    }

    @Test("Each session's calls take effect in order, in random sequences of calls and lanes")
    func property() {
        var generator = SeededGenerator(seed: 20_261_122)
        for _ in 0..<300 {
            var model = LaneModel()
            let calls = (0..<Int.random(in: 1...60, using: &generator)).map { number in
                let lane = StoreLane.allCases.randomElement(using: &generator) ?? .reads
                return NumberedCall(
                    number, SessionID(Int.random(in: 1...4, using: &generator)), lane,
                    isWrite: lane == .commits && Int.random(in: 0..<4, using: &generator) > 0)
            }
            var next = 0
            while next < calls.count || !model.isIdle {
                if next < calls.count, Bool.random(using: &generator) {
                    model.submit(calls[next])
                    next += 1
                } else if let lane = StoreLane.allCases.randomElement(using: &generator) {
                    model.step(lane, batch: Int.random(in: 1...8, using: &generator))
                }
            }
            #expect(model.effects.keys.sorted() == Array(calls.indices))
            for session in (1...4).map({ SessionID($0) }) {
                let moments = calls.filter { $0.session == session }.compactMap { model.effects[$0.number] }
                #expect(moments == moments.sorted())
            }
            for call in calls where call.effect == .read {
                let earlier = calls.prefix(call.number).filter { $0.session == call.session && $0.effect == .write }
                #expect(model.seen[call.number] == earlier.map(\.number))
            }
        }
    }
}

/// The lanes on a model of the store: the numbers of the committed writes, in order. The lanes run step by step, in any
/// order.
private struct LaneModel {
    private struct Lane {
        /// Whether the lane is at work and needs no wake-up.
        var isAwake = false
        var taken: [NumberedCall] = []
        /// The calls being carried out, with the state of the store that their reads see.
        var batch: [NumberedCall] = []
    }

    private var queues = CallQueues()
    private var lanes = StoreLane.allCases.map { _ in Lane() }
    private var committed: [NumberedCall] = []
    private var moment = 0
    /// The moment when each call took effect, by its number.
    private(set) var effects: [Int: Int] = [:]
    /// The writes of its own session that each read found, by its number.
    private(set) var seen: [Int: [Int]] = [:]

    var isIdle: Bool { queues.count == 0 }

    mutating func submit(_ call: NumberedCall) {
        if queues.admit(call) == .first { wake(call.lane) }
    }

    private mutating func wake(_ lane: StoreLane) {
        #expect(!lanes[lane.rawValue].isAwake)
        lanes[lane.rawValue].isAwake = true
    }

    /// Does the lane's next step: finishes its batch, carries out a batch, or takes the waiting calls.
    mutating func step(_ lane: StoreLane, batch count: Int) {
        let index = lane.rawValue
        guard lanes[index].isAwake else { return }
        moment += 1
        if !lanes[index].batch.isEmpty {
            let batch = exchange(&lanes[index].batch, with: [])
            let finished: [CallQueues.Call] = batch
            for lane in queues.finish(finished[...]) { wake(lane) }
        } else if !lanes[index].taken.isEmpty {
            carryOut(lane, count)
        } else {
            // Sometimes puts calls back, as if their time had run out.
            lanes[index].taken = queues.take(lane)
            if lane == .commits, lanes[index].taken.count > 2, moment % 3 == 0 {
                let left = Array(lanes[index].taken.suffix(2))
                lanes[index].taken.removeLast(2)
                queues.putBack(left, lane)
            }
            lanes[index].isAwake = !lanes[index].taken.isEmpty
        }
    }

    private mutating func carryOut(_ lane: StoreLane, _ count: Int) {
        let taken = lanes[lane.rawValue].taken
        guard lane == .commits else { return end(look(taken.prefix(count)), lane) }
        let batch = BatchPlanner.plan(taken.map(\.item), bounds: .init(calls: count, sizeBytes: 1000))
        _ = look(batch.before.map { taken[$0] }[...])
        for index in batch.writes {
            moment += 1
            committed.append(taken[index])
            effects[taken[index].number] = moment
        }
        moment += 1
        _ = look(batch.after.map { taken[$0] }[...])
        end(taken.prefix(batch.count), lane)
    }

    private mutating func look(_ calls: ArraySlice<NumberedCall>) -> ArraySlice<NumberedCall> {
        for call in calls {
            effects[call.number] = moment
            seen[call.number] = committed.filter { $0.session == call.session }.map(\.number)
        }
        return calls
    }

    private mutating func end(_ calls: ArraySlice<NumberedCall>, _ lane: StoreLane) {
        lanes[lane.rawValue].batch = Array(calls)
        lanes[lane.rawValue].taken.removeFirst(calls.count)
    }
}
