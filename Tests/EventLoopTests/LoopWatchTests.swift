import Testing

@testable import EventLoop

@Suite("The watch of the loop")
struct LoopWatchTests {
    @Test("reports a turn that goes on within a second: by the first look after its timeout is over")
    func withinASecond() {
        #expect(LoopWatch.timeout + LoopWatch.interval <= .seconds(1))
        #expect(LoopWatch.timeout > LoopWatch.limit)
    }
}
