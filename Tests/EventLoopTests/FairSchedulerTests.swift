import Testing

@testable import EventLoop

@Suite("Users share the loop", .timeLimit(.minutes(20))) @LoopActor
struct FairSchedulerTests {
    @Test("A new connection counts as sending: shares become short, and longer again when no user sends")
    func connecting() {
        let time = ManualTime()
        let scheduler = FairScheduler { time.nanoseconds }
        defer { scheduler.close() }
        let first = scheduler.add(.uid(1))
        #expect(scheduler.share == FairScheduler.soleShareNanoseconds)
        #expect(scheduler.writeBytes == .max)
        _ = scheduler.add(.uid(2))
        #expect(scheduler.share == FairScheduler.contendedShareNanoseconds)
        #expect(scheduler.writeBytes == 64 * 1024)
        time.nanoseconds += FairScheduler.contentionNanoseconds
        #expect(scheduler.share == FairScheduler.quietShareNanoseconds)
        #expect(scheduler.writeBytes == 512 * 1024)
        #expect(scheduler.mayRead(first))
        #expect(scheduler.share == FairScheduler.contendedShareNanoseconds)
    }

    @Test("A process that answers the only user does not compete: shares stay long, its own is 200 µs")
    func answeringProcess() {
        let time = ManualTime()
        let scheduler = FairScheduler { time.nanoseconds }
        defer { scheduler.close() }
        let client = scheduler.add(.uid(1))
        let process = scheduler.add(.process(1))
        #expect(scheduler.mayRead(client))
        #expect(!scheduler.isShared)
        #expect(scheduler.mayRead(process))
        #expect(scheduler.isShared)
        #expect(scheduler.share == FairScheduler.quietShareNanoseconds)
        scheduler.charge(FairScheduler.quietShareNanoseconds, to: process)
        #expect(!scheduler.mayRead(process))
        #expect(scheduler.mayRead(client))
        #expect(scheduler.share == FairScheduler.soleShareNanoseconds)
    }

    @Test("A process that sends unrequested data counts as a user while it does so")
    func unaskedProcess() {
        let time = ManualTime()
        let scheduler = FairScheduler { time.nanoseconds }
        defer { scheduler.close() }
        let client = scheduler.add(.uid(1))
        let process = scheduler.add(.process(1))
        #expect(scheduler.mayRead(process))
        #expect(scheduler.share == FairScheduler.quietShareNanoseconds)
        scheduler.noteUnasked(by: process)
        #expect(scheduler.share == FairScheduler.contendedShareNanoseconds)
        scheduler.charge(FairScheduler.contendedShareNanoseconds, to: process)
        #expect(!scheduler.mayRead(process))
        time.nanoseconds += FairScheduler.contentionNanoseconds - 1
        scheduler.noteUnasked(by: process)
        time.nanoseconds += FairScheduler.contentionNanoseconds - 1
        #expect(scheduler.mayRead(client))
        #expect(scheduler.share == FairScheduler.contendedShareNanoseconds)
        time.nanoseconds += FairScheduler.contentionNanoseconds
        #expect(scheduler.share == FairScheduler.soleShareNanoseconds)
        #expect(scheduler.mayRead(process))
        #expect(scheduler.share == FairScheduler.quietShareNanoseconds)
    }

    @Test("With clients of several users, an answering process makes all shares short, too")
    func processAmongUsers() {
        let time = ManualTime()
        let scheduler = FairScheduler { time.nanoseconds }
        defer { scheduler.close() }
        let client = scheduler.add(.uid(1))
        _ = scheduler.add(.uid(2))
        let process = scheduler.add(.process(1))
        time.nanoseconds += FairScheduler.contentionNanoseconds
        #expect(scheduler.share == FairScheduler.quietShareNanoseconds)
        #expect(scheduler.mayRead(client))
        #expect(scheduler.mayRead(process))
        #expect(scheduler.share == FairScheduler.contendedShareNanoseconds)
        time.nanoseconds += FairScheduler.contentionNanoseconds
        #expect(scheduler.share == FairScheduler.quietShareNanoseconds)
    }

    @Test(
        "A plugin's share is that of all its clients together, at most eight",
        arguments: [FairUser.Name.process(1), .plugin(1)])
    func pluginShare(name: FairUser.Name) {
        let time = ManualTime()
        let scheduler = FairScheduler { time.nanoseconds }
        defer { scheduler.close() }
        let plugin = scheduler.add(name)
        let first = scheduler.add(.uid(1))
        #expect(scheduler.share(of: plugin) == scheduler.share(of: first))
        let share = FairScheduler.contendedShareNanoseconds
        for uid in 2...3 as ClosedRange<UInt32> { _ = scheduler.add(.uid(uid)) }
        #expect(scheduler.share(of: first) == share)
        #expect(scheduler.share(of: plugin) == 3 * share)
        for uid in 4...20 as ClosedRange<UInt32> { _ = scheduler.add(.uid(uid)) }
        #expect(scheduler.share(of: plugin) == 8 * share)
    }

    @Test("The only user's input is read for a limited time in a turn, and the rest in the next")
    func soleTurn() async {
        let time = ManualTime()
        let scheduler = FairScheduler { time.nanoseconds }
        defer { scheduler.close() }
        let user = scheduler.add(.uid(1))
        #expect((0..<1000).allSatisfy { _ in scheduler.mayRead(user) })
        time.nanoseconds += FairScheduler.soleTurnNanoseconds
        let reads = (0..<1000).prefix { _ in scheduler.mayRead(user) }
        #expect(reads.count < FairScheduler.soleReadsPerLook)
        #expect(!scheduler.mayRead(user))
        await withCheckedContinuation { continuation in EventLoop.post { continuation.resume() } }
        await Task.yield()
        #expect(scheduler.mayRead(user))
    }
}

@LoopActor
private final class ManualTime {
    var nanoseconds: UInt64 = 1
}
