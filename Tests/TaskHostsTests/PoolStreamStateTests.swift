import EventLoop
import Testing

@testable import TaskHosts
@testable import TaskRuntime

@Suite("Processes of a pool that hold ends of streams")
struct PoolStreamStateTests {
    private final class Member {
        /// The time of the last byte that moved; `nil` if the process holds no stream end.
        var movedAt: MonotonicInstant?
    }

    private let start = MonotonicInstant(nanoseconds: 1_000_000_000_000)

    private func state(
        _ minimum: Int = 0, _ maximum: Int = 1, per: PoolSettings.Lease = .call
    ) -> PluginPoolState<Member> {
        PluginPoolState(
            PoolSettings(minimum: minimum, maximum: maximum, per: per, idle: .seconds(60)), timeout: .seconds(10),
            movedAt: \.movedAt)
    }

    /// Returns a process whose call has ended and that holds a stream end.
    private func working(in state: PluginPoolState<Member>) -> Member {
        let process = Member()
        state.add(process, isCold: false, of: 1, at: start)
        _ = state.take(for: nil)
        process.movedAt = start
        #expect(state.becameIdle(process, grownBytes: 0) == .workOn)
        return process
    }

    @Test("A process that holds a stream end is not given to other callers, and is cleaned after its last end")
    func works() {
        let state = state()
        let process = working(in: state)
        #expect(state.take(for: nil) == nil && state.status.inUse == 1 && state.status.reusable == 0)
        process.movedAt = nil
        #expect(state.becameIdle(process, grownBytes: 0) == .clean)
        #expect(state.cleaned(process) == nil)
        #expect(state.take(for: nil)?.process === process)
    }

    @Test("A process that holds a stream end is not ended as unused, even if its stream stalls")
    func needed() {
        let state = state()
        let process = working(in: state)
        for minute in 1...60 {
            let expired = state.expire(of: 1, waiting: 0, at: start + .seconds(60 * minute))
            #expect(expired.needless.isEmpty && expired.overdue.isEmpty && expired.stalled.isEmpty)
        }
        #expect(state.has(process))
    }

    @Test("The calls of a session go to its process also while the process holds a stream end")
    func session() {
        let state = state(per: .session)
        let process = Member()
        state.add(process, isCold: false, of: 1, at: start)
        #expect(state.take(for: 7)?.process === process)
        process.movedAt = start
        #expect(state.becameIdle(process, grownBytes: 0) == nil)
        #expect(state.take(for: 7)?.process === process)
        #expect(state.take(for: 8) == nil)
    }

    @Test("If calls wait at the maximum of processes, a process with a stalled stream is replaced at its timeout")
    func stalled() {
        let state = state()
        let process = working(in: state)
        #expect(state.nextMoment == start + .seconds(60))
        #expect(state.missing(for: 1, of: 1, isNeeded: false) == 0)
        #expect(state.nextMoment == start + .seconds(10))
        process.movedAt = start + .seconds(4)
        #expect(state.expire(of: 1, waiting: 1, at: start + .seconds(10)).stalled.isEmpty)
        #expect(state.nextMoment == start + .seconds(14))
        let expired = state.expire(of: 1, waiting: 1, at: start + .seconds(14))
        #expect(expired.stalled.count == 1 && expired.stalled.first === process)
        #expect(!state.has(process) && state.status.recycled == 1 && state.status.inUse == 0)
    }

    @Test("At most one stalled process for each waiting call is replaced, the longest stalled first")
    func longest() {
        let state = state(0, 3)
        let processes = (0..<3).map { _ in working(in: state) }
        for (index, process) in processes.enumerated() { process.movedAt = start + .seconds(3 - index) }
        #expect(state.missing(for: 2, of: 3, isNeeded: false) == 0)
        let expired = state.expire(of: 3, waiting: 2, at: start + .seconds(30))
        #expect(expired.stalled.count == 2)
        #expect(expired.stalled.first === processes[2] && expired.stalled.last === processes[1])
    }

    @Test("Processes with stalled streams are kept when no call waits any more")
    func unwanted() {
        let state = state()
        let process = working(in: state)
        #expect(state.missing(for: 1, of: 1, isNeeded: false) == 0)
        #expect(state.expire(of: 1, waiting: 0, at: start + .seconds(10)).stalled.isEmpty)
        #expect(state.nextMoment == start + .seconds(60) && state.has(process))
    }

    @Test("After the session ends, the process's timeout counts from the last byte that moved")
    func overdue() {
        let state = state(per: .session)
        let process = Member()
        state.add(process, isCold: false, of: 0, at: start)
        _ = state.take(for: 7)
        process.movedAt = start
        #expect(state.end(7) === process)
        state.callerLeft(process, at: start)
        #expect(state.becameIdle(process, grownBytes: 0) == .workOn)
        process.movedAt = start + .seconds(9)
        #expect(state.expire(of: 0, waiting: 0, at: start + .seconds(10)).overdue.isEmpty)
        #expect(state.nextMoment == start + .seconds(19))
        let expired = state.expire(of: 0, waiting: 0, at: start + .seconds(19))
        #expect(expired.overdue.count == 1 && expired.overdue.first === process)
    }

    @Test("An idle process that takes a stream end in its own name is in use until that closes, even while cleaned")
    func own() {
        let state = state()
        let process = Member()
        state.add(process, isCold: false, of: 1, at: start)
        process.movedAt = start
        state.tookEnd(process)
        #expect(state.take(for: nil) == nil && state.status.inUse == 1)
        process.movedAt = nil
        #expect(state.becameIdle(process, grownBytes: 0) == .clean)
        process.movedAt = start
        state.tookEnd(process)
        #expect(state.cleaned(process) == .workOn)
        #expect(state.take(for: nil) == nil && state.status.inUse == 1)
        process.movedAt = nil
        #expect(state.becameIdle(process, grownBytes: 0) == .clean)
        #expect(state.cleaned(process) == nil && state.status.reusable == 1 && state.status.inUse == 0)
    }

    @Test("A stale process is replaced when its last stream end has closed")
    func stale() {
        let state = state()
        let process = working(in: state)
        #expect(state.makeStale([process]).isEmpty)
        process.movedAt = nil
        #expect(state.becameIdle(process, grownBytes: 0) == .replace)
    }
}
