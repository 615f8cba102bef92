import EventLoop
import Glibc
import MainLoop
import Testing

@Suite("Long turns of the main loop") struct LongTurnsTests {
    @Test("only turns with more than 16 ms of CPU time are counted; the longest is kept for both clocks")
    func counts() {
        var turns = LongTurns()
        func note(_ milliseconds: Int, cpu: Int, own: Int, of work: String) {
            turns.note(
                SlowTurn(duration: .milliseconds(milliseconds), cpuTime: .milliseconds(cpu)), of: work,
                own: .milliseconds(own))
        }
        note(900, cpu: 16, own: 2, of: "timer")
        #expect(turns.count == 0)
        note(40, cpu: 30, own: 29, of: "timer")
        note(20, cpu: 17, own: 1, of: "toolkit")
        #expect(turns.count == 2 && turns.counts == ["timer": 1, "toolkit": 1])
        #expect(turns.longestOwn == .milliseconds(29))
        #expect(turns.longest == .milliseconds(30) && turns.longestByClock == .milliseconds(900))
    }

    @MainActor
    @Test("the loop counts a turn that works for long, and no turn that waits")
    func loop() {
        var end: LoopSource?
        let work = LoopSource.timer(after: .milliseconds(50)) {
            let moment = Self.processorTime + 40_000_000
            while Self.processorTime < moment {}
            // In a later turn.
            end = .timer(after: .milliseconds(1)) { MainLoop.quit() }
        }
        MainLoop.run()
        withExtendedLifetime((work, end)) {}
        #expect(MainLoop.longTurns.counts == ["timer": 1])
        #expect(MainLoop.longTurns.longest >= .milliseconds(40))
        #expect(MainLoop.longTurns.longestOwn >= .milliseconds(40))
        #expect(MainLoop.longTurns.longestByClock >= .milliseconds(40))
    }

    private nonisolated static var processorTime: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
