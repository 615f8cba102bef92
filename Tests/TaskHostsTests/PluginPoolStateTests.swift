import EventLoop
import TestSupport
import Testing

@testable import TaskHosts
@testable import TaskRuntime

@Suite("The state of a pool of processes")
struct PluginPoolStateTests {
    private final class Member {}

    private let start = MonotonicInstant(nanoseconds: 1_000_000_000_000)

    private func state(
        _ minimum: Int = 0, _ maximum: Int = 4, per: PoolSettings.Lease = .call, uses: Int = 1_000
    ) -> PluginPoolState<Member> {
        PluginPoolState(
            PoolSettings(minimum: minimum, maximum: maximum, per: per, maximumUses: uses, idle: .seconds(60)),
            timeout: .seconds(10), movedAt: { _ in nil })
    }

    @Test("The process that became idle last is taken next")
    func order() throws {
        let state = state()
        let (first, second) = (Member(), Member())
        state.add(first, isCold: false, of: 2, at: start)
        state.add(second, isCold: false, of: 2, at: start)
        #expect(state.take(for: nil)?.process === second)
        #expect(state.becameIdle(second, grownBytes: 0) == .clean)
        #expect(state.take(for: nil)?.process === first)
        #expect(state.cleaned(second) == nil)
        #expect(state.take(for: nil)?.process === second)
        #expect(state.take(for: nil) == nil)
        #expect(state.status.inUse == 2 && state.status.warmStarts == 3)
    }

    @Test("The pool starts one process for each waiting call, minus those that are starting, up to the maximum")
    func missing() {
        let state = state(1, 4)
        #expect(state.missing(of: 0) == 1)
        #expect(state.missing(of: 0) == 0)
        #expect(state.missing(for: 2, of: 0, isNeeded: false) == 1)
        #expect(state.missing(for: 9, of: 0, isNeeded: false) == 2)
        #expect(state.missing(for: 9, of: 0, isNeeded: false) == 0)
        #expect(state.status.starting == 4)
        for _ in 0..<4 { state.began() }
        #expect(state.missing(for: 9, of: 4, isNeeded: false) == 0)
        for _ in 0..<4 { state.ended() }
        #expect(state.status.starting == 0)
    }

    @Test("The pool starts one process if it has none and one is needed")
    func needed() {
        let state = state(0, 4)
        #expect(state.missing(for: 0, of: 0, isNeeded: false) == 0)
        #expect(state.missing(for: 0, of: 0, isNeeded: true) == 1)
    }

    @Test("A session keeps its process from its first call to its end, and gets no other process")
    func session() throws {
        let state = state(per: .session)
        let (first, second) = (Member(), Member())
        state.add(first, isCold: true, of: 2, at: start)
        state.add(second, isCold: false, of: 2, at: start)
        let taken = try #require(state.take(for: 7))
        #expect(taken.process === second && taken.isNewOfSession)
        #expect(state.becameIdle(second, grownBytes: 0) == nil)
        let again = try #require(state.take(for: 7))
        #expect(again.process === second && !again.isNewOfSession)
        guard case .leased(let known) = state.room(for: 7) else {
            Issue.record("the session has a process")
            return
        }
        #expect(known === second)
        #expect(state.end(7) === second)
        #expect(state.becameIdle(second, grownBytes: 0) == .clean)
        #expect(state.end(7) == nil)
        #expect(state.take(for: 8)?.process === first)
        #expect(state.status.coldStarts == 1 && state.status.warmStarts == 1)
    }

    @Test("A process is replaced after its maximum of uses, or if it has grown by more than 64 MiB")
    func worn() {
        let state = state(uses: 2)
        let process = Member()
        state.add(process, isCold: false, of: 1, at: start)
        _ = state.take(for: nil)
        #expect(state.becameIdle(process, grownBytes: 64 << 20) == .clean)
        #expect(state.cleaned(process) == nil)
        _ = state.take(for: nil)
        #expect(state.becameIdle(process, grownBytes: 0) == .replace)
        #expect(!state.has(process) && state.status.recycled == 1 && state.status.inUse == 0)

        let grown = Member()
        state.add(grown, isCold: false, of: 1, at: start)
        _ = state.take(for: nil)
        #expect(state.becameIdle(grown, grownBytes: 64 << 20 + 1) == .replace)
    }

    @Test("A process that continues after its caller disconnected is replaced at its timeout, not earlier")
    func overdue() {
        let state = state()
        let process = Member()
        state.add(process, isCold: false, of: 0, at: start)
        _ = state.take(for: nil)
        state.callerLeft(process, at: start)
        state.callerLeft(process, at: start + .seconds(5))
        #expect(state.nextMoment == start + .seconds(10))
        #expect(state.expire(of: 0, waiting: 0, at: start + .milliseconds(9_999)).overdue.isEmpty)
        let expired = state.expire(of: 0, waiting: 0, at: start + .seconds(10))
        #expect(expired.overdue.count == 1 && expired.overdue.first === process)
        #expect(!state.has(process) && state.nextMoment == nil)
    }

    @Test("A process that finishes in time, or that a session keeps, is not replaced")
    func inTime() {
        let state = state(per: .session)
        let (done, kept) = (Member(), Member())
        state.add(done, isCold: false, of: 0, at: start)
        _ = state.take(for: nil)
        state.callerLeft(done, at: start)
        #expect(state.becameIdle(done, grownBytes: 0) == .clean)
        state.add(kept, isCold: false, of: 0, at: start)
        _ = state.take(for: 1)
        state.callerLeft(kept, at: start)
        #expect(state.nextMoment == nil)
        #expect(state.expire(of: 0, waiting: 0, at: start + .seconds(60)).overdue.isEmpty)
    }

    @Test("Processes that were idle for a whole period end, the longest idle first, down to the minimum")
    func needless() {
        let state = state(1, 4)
        let processes = (0..<4).map { _ in Member() }
        for process in processes { state.add(process, isCold: false, of: 4, at: start) }
        let taken = state.take(for: nil)?.process
        #expect(taken === processes[3])
        let first = state.expire(of: 4, waiting: 0, at: start + .seconds(60))
        // The period began when the first process was added and only that one was idle.
        #expect(first.needless.count == 1 && first.needless.first === processes[0])
        let second = state.expire(of: 3, waiting: 0, at: start + .seconds(120))
        #expect(second.needless.count == 2)
        #expect(state.nextMoment == nil && state.status.reusable == 0 && state.status.inUse == 1)
    }

    @Test("After a change of configuration, idle processes are replaced at once, others after their call")
    func stale() {
        let state = state()
        let (free, busy, starting) = (Member(), Member(), Member())
        state.add(busy, isCold: false, of: 2, at: start)
        _ = state.take(for: nil)
        state.add(free, isCold: false, of: 2, at: start)
        let replaced = state.makeStale([free, busy, starting])
        #expect(replaced.count == 1 && replaced.first === free)
        #expect(state.becameIdle(busy, grownBytes: 0) == .replace)
        state.add(starting, isCold: false, of: 1, at: start)
        #expect(state.take(for: nil)?.process === starting)
        #expect(state.becameIdle(starting, grownBytes: 0) == .replace)
        #expect(state.status.recycled == 3)
    }

    @Test("In any order of events, no process has two callers, and the counts add up", arguments: 0..<20)
    func anything(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let per: PoolSettings.Lease = seed.isMultiple(of: 2) ? .call : .session
        let state = state(1, 6, per: per, uses: 5)
        var now = start
        var known: [Member] = []
        var callers: [ObjectIdentifier: UInt64] = [:]
        func forget(_ process: Member) {
            known.removeAll { $0 === process }
            callers[ObjectIdentifier(process)] = nil
        }
        for step in 0..<400 {
            let some = known.randomElement(using: &random)
            switch Int.random(in: 0..<9, using: &random) {
            case 0, 1:
                let process = Member()
                known.append(process)
                state.add(process, isCold: .random(using: &random), of: known.count, at: now)
            case 2, 3:
                let session = UInt64(Int.random(in: 1...4, using: &random))
                guard let (process, _) = state.take(for: session) else { continue }
                let before = callers.updateValue(session, forKey: ObjectIdentifier(process))
                #expect(before == nil || per == .session && before == session, "step \(step)")
            case 4:
                guard let some, callers[ObjectIdentifier(some)] != nil else { continue }
                switch state.becameIdle(some, grownBytes: 0) {
                case .clean:
                    callers[ObjectIdentifier(some)] = nil
                    if state.cleaned(some) != nil { forget(some) }
                case .replace: forget(some)
                case .workOn: Issue.record("no process holds an end")
                case nil: #expect(per == .session, "step \(step)")
                }
            case 5:
                let session = UInt64(Int.random(in: 1...4, using: &random))
                if let process = state.end(session) {
                    #expect(callers[ObjectIdentifier(process)] == session, "step \(step)")
                }
            case 6: if let some { state.callerLeft(some, at: now) }
            case 7:
                now = now + .seconds(Int.random(in: 0...90, using: &random))
                let expired = state.expire(of: known.count, waiting: 0, at: now)
                for process in expired.needless {
                    #expect(callers[ObjectIdentifier(process)] == nil, "step \(step)")
                }
                for process in expired.overdue + expired.needless { forget(process) }
            default:
                if let some {
                    state.remove(some)
                    forget(some)
                }
            }
            #expect(known.allSatisfy(state.has), "step \(step)")
            #expect(state.status.inUse == callers.count, "step \(step)")
            #expect(state.status.reusable + state.status.inUse == known.count, "step \(step)")
        }
    }
}
