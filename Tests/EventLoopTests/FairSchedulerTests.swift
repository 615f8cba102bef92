import Testing

@testable import EventLoop

@Suite("The loop is shared by users") @LoopActor
struct FairSchedulerTests {
    @Test("Who connects counts as who sends: the shares of all are short then")
    func connecting() {
        let scheduler = FairScheduler()
        defer { scheduler.close() }
        let first = scheduler.add(.uid(1))
        #expect(scheduler.share == FairScheduler.soleShareNanoseconds)
        #expect(scheduler.writeBytes == .max)
        _ = scheduler.add(.uid(2))
        #expect(scheduler.share == FairScheduler.quietShareNanoseconds)
        #expect(scheduler.writeBytes == 512 * 1024)
        #expect(scheduler.mayRead(first))
        _ = scheduler.add(.uid(2))
        #expect(scheduler.share == FairScheduler.contendedShareNanoseconds)
        #expect(scheduler.writeBytes == 64 * 1024)
    }
}
