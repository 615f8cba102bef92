import TestSupport
import Testing

@testable import LoginTasks

@Suite("The lock-out")
struct LockOutTests {
    private let user = UserName("ada")!  // `!`: a valid name
    private let other = UserName("bob")!  // `!`: the same

    private func fail(_ lockOut: inout LockOut, times: Int, uid: UInt32 = 1000, now: Duration = .zero) {
        for _ in 0..<times {
            guard case .allowed(let attempt) = lockOut.begin(user: user, uid: uid, now: now) else { return }
            lockOut.failed(attempt, now: now)
        }
    }

    private func retryAfter(_ lockOut: inout LockOut, uid: UInt32 = 1000, now: Duration) -> Duration? {
        switch lockOut.begin(user: user, uid: uid, now: now) {
        case .allowed(let attempt):
            lockOut.abandoned(attempt)
            return nil
        case .locked(let retryAfter): return retryAfter
        }
    }

    @Test("Four failures have no effect, the fifth locks the entry for a second")
    func freeFailures() {
        var lockOut = LockOut()
        fail(&lockOut, times: 4)
        #expect(retryAfter(&lockOut, now: .zero) == nil)
        fail(&lockOut, times: 1)
        #expect(retryAfter(&lockOut, now: .zero) == .seconds(1))
        #expect(retryAfter(&lockOut, now: .milliseconds(400)) == .milliseconds(600))
        #expect(retryAfter(&lockOut, now: .seconds(1)) == nil)
    }

    @Test("The delay doubles up to 15 minutes")
    func doubling() {
        var lockOut = LockOut()
        var now = Duration.zero
        var delays: [Int64] = []
        fail(&lockOut, times: 4)
        for _ in 0..<14 {
            fail(&lockOut, times: 1, now: now)
            let delay = retryAfter(&lockOut, now: now) ?? .zero
            delays.append(delay.components.seconds)
            now += delay
        }
        #expect(delays == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900, 900])
    }

    @Test("The start of the clock does not matter", arguments: [Int64.min / 4, -1, 0, 1, Int64.max / 4])
    func anyClock(start: Int64) {
        var lockOut = LockOut()
        let now = Duration.seconds(start)
        #expect(retryAfter(&lockOut, now: now) == nil)
        fail(&lockOut, times: 5, now: now)
        #expect(retryAfter(&lockOut, now: now) == .seconds(1))
        #expect(retryAfter(&lockOut, now: now + .seconds(1)) == nil)
    }

    @Test("Attempts during the lock do not extend it")
    func refusedAttempts() {
        var lockOut = LockOut()
        fail(&lockOut, times: 5)
        for _ in 0..<100 { #expect(retryAfter(&lockOut, now: .milliseconds(500)) == .milliseconds(500)) }
        #expect(retryAfter(&lockOut, now: .seconds(1)) == nil)
    }

    @Test("A success removes the failures")
    func success() {
        var lockOut = LockOut()
        fail(&lockOut, times: 4)
        guard case .allowed(let attempt) = lockOut.begin(user: user, uid: 1000, now: .zero) else {
            Issue.record("the attempt was refused")
            return
        }
        lockOut.succeeded(attempt)
        #expect(lockOut.count == 0)
        fail(&lockOut, times: 4)
        #expect(retryAfter(&lockOut, now: .zero) == nil)
    }

    @Test("One uid's failures lock neither another uid nor another user for the same uid")
    func keys() {
        var lockOut = LockOut()
        fail(&lockOut, times: 5, uid: 1000)
        #expect(retryAfter(&lockOut, uid: 1000, now: .zero) != nil)
        #expect(retryAfter(&lockOut, uid: 1001, now: .zero) == nil)
        guard case .allowed = lockOut.begin(user: other, uid: 1000, now: .zero) else {
            Issue.record("another user's attempt was refused")
            return
        }
    }

    @Test("Concurrent attempts are limited like sequential ones")
    func sideBySide() {
        var lockOut = LockOut()
        var allowed: [LockOut.Attempt] = []
        for _ in 0..<50 {
            if case .allowed(let attempt) = lockOut.begin(user: user, uid: 1000, now: .zero) { allowed.append(attempt) }
        }
        #expect(allowed.count == 5)
        for attempt in allowed { lockOut.failed(attempt, now: .zero) }
        #expect(retryAfter(&lockOut, now: .zero) == .seconds(1))
    }

    @Test("After the free failures, only one attempt runs at a time")
    func oneAtATime() {
        var lockOut = LockOut()
        fail(&lockOut, times: 5)
        guard case .allowed(let attempt) = lockOut.begin(user: user, uid: 1000, now: .seconds(1)) else {
            Issue.record("the attempt was refused")
            return
        }
        #expect(lockOut.begin(user: user, uid: 1000, now: .seconds(1)) == .locked(retryAfter: .seconds(1)))
        lockOut.failed(attempt, now: .seconds(1))
        #expect(retryAfter(&lockOut, now: .seconds(1)) == .seconds(2))
    }

    @Test("An abandoned attempt has no effect")
    func abandoned() {
        var lockOut = LockOut()
        for _ in 0..<20 { #expect(retryAfter(&lockOut, now: .zero) == nil) }
        #expect(lockOut.count == 0)
    }

    @Test("Ending an attempt twice counts once")
    func endedTwice() {
        var lockOut = LockOut()
        guard case .allowed(let attempt) = lockOut.begin(user: user, uid: 1000, now: .zero) else {
            Issue.record("the attempt was refused")
            return
        }
        for _ in 0..<9 { lockOut.failed(attempt, now: .zero) }
        #expect(retryAfter(&lockOut, now: .zero) == nil)
    }

    @Test("An entry is removed a day after its last failure")
    func memory() {
        var lockOut = LockOut()
        fail(&lockOut, times: 4)
        fail(&lockOut, times: 4, now: .seconds(24 * 60 * 60))
        #expect(retryAfter(&lockOut, now: .seconds(24 * 60 * 60)) == nil)
    }

    @Test("forget removes the failures of all uids")
    func forgetting() {
        var lockOut = LockOut()
        fail(&lockOut, times: 5, uid: 1)
        fail(&lockOut, times: 5, uid: 2)
        lockOut.forget(user: user)
        #expect(lockOut.count == 0)
        #expect(retryAfter(&lockOut, uid: 1, now: .zero) == nil)
    }

    @Test("forget keeps counting attempts in progress")
    func forgettingUnderWay() {
        var lockOut = LockOut()
        for _ in 0..<5 { _ = lockOut.begin(user: user, uid: 1000, now: .zero) }
        lockOut.forget(user: user)
        #expect(retryAfter(&lockOut, now: .zero) == .seconds(1))
    }

    @Test("The number of entries is limited, and attempts with many names do not remove locks")
    func bounded() {
        var lockOut = LockOut(rules: LockOut.Rules(maximumEntries: 50))
        fail(&lockOut, times: 5, uid: 1000)
        fail(&lockOut, times: 5, uid: 1001)
        for number in 0..<500 {
            let name = UserName("name\(number)")!  // `!`: a valid name
            guard case .allowed(let attempt) = lockOut.begin(user: name, uid: 1000, now: .milliseconds(number)) else {
                Issue.record("name \(number) was refused")
                return
            }
            lockOut.failed(attempt, now: .milliseconds(number))
            #expect(lockOut.count <= 50)
        }
        #expect(retryAfter(&lockOut, uid: 1000, now: .milliseconds(500)) == .milliseconds(500))
        #expect(retryAfter(&lockOut, uid: 1001, now: .milliseconds(500)) == .milliseconds(500))
        #expect(retryAfter(&lockOut, uid: 1002, now: .milliseconds(500)) == nil)
    }

    @Test("If every entry is in use, a new one is refused")
    func full() {
        var lockOut = LockOut(rules: LockOut.Rules(maximumEntries: 1))
        guard case .allowed = lockOut.begin(user: user, uid: 1000, now: .zero) else {
            Issue.record("the attempt was refused")
            return
        }
        #expect(lockOut.begin(user: other, uid: 1000, now: .zero) == .locked(retryAfter: .seconds(1)))
    }

    @Test(
        "Attempts are refused exactly when required, in random sequences of events", arguments: 0..<20
    )
    func anyOrder(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var lockOut = LockOut()
        var now = Duration.zero
        var underWay: [LockOut.Attempt] = []
        var failures = 0
        var lastFailure = Duration.zero
        for _ in 0..<2000 {
            let delay = failures < 5 ? 0 : min(1 << min(failures - 5, 20), 900)
            let isClosed = failures >= 5 && now < lastFailure + .seconds(delay)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5:
                switch lockOut.begin(user: user, uid: 7, now: now) {
                case .allowed(let attempt):
                    #expect(!isClosed && underWay.count < max(1, 5 - failures))
                    underWay.append(attempt)
                case .locked(let retryAfter):
                    #expect(isClosed || underWay.count >= max(1, 5 - failures))
                    #expect(retryAfter > .zero && retryAfter <= .seconds(900))
                }
            case 5..<8:
                guard let attempt = underWay.popLast() else { continue }
                lockOut.failed(attempt, now: now)
                failures += 1
                lastFailure = now
            case 8:
                guard let attempt = underWay.popLast() else { continue }
                if Int.random(in: 0..<20, using: &generator) == 0 {
                    lockOut.succeeded(attempt)
                    failures = 0
                } else {
                    lockOut.abandoned(attempt)
                }
            default:
                now += .milliseconds(Int.random(in: 0..<60_000, using: &generator))
            }
        }
        #expect(lockOut.count <= 1)
    }
}
