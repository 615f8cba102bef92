import Testing

@testable import EventLoop

@Suite("The watch of the loop")
struct LoopWatchTests {
    @Test("reports a turn that is still running within a second")
    func withinASecond() {
        #expect(LoopWatch.timeout + LoopWatch.interval <= .seconds(1))
        #expect(LoopWatch.timeout > LoopWatch.limit)
    }
}
