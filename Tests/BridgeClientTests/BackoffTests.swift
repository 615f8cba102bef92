import EventLoop
import Testing

@testable import BridgeClient

struct BackoffTests {
    private let backoff = Backoff(initial: .milliseconds(100), maximum: .seconds(1), jitter: 0.5)

    @Test("Pauses double up to the maximum")
    func grows() {
        var pauses = BackoffPauses(backoff)
        let seen = (0..<6).map { _ in pauses.next(chance: 0) }
        #expect(seen == [100, 200, 400, 800, 1_000, 1_000].map { .milliseconds($0) })
    }

    @Test("Randomness shortens a pause by at most the jitter")
    func jitter() {
        var pauses = BackoffPauses(backoff)
        #expect(pauses.next(chance: 1) == .milliseconds(50))
        #expect(pauses.next(chance: 0.5) == .milliseconds(150))
        var even = BackoffPauses(Backoff(initial: .milliseconds(100), maximum: .seconds(1), jitter: 0))
        #expect(even.next(chance: 1) == .milliseconds(100))
    }

    @Test("A connection that lasts longer than the last pause resets the pauses; a shorter one does not")
    func reset() {
        var pauses = BackoffPauses(backoff)
        for _ in 0..<3 { _ = pauses.next(chance: 0) }
        pauses.wasConnected(for: .milliseconds(399))
        #expect(pauses.next(chance: 0) == .milliseconds(800))
        pauses.wasConnected(for: .milliseconds(800))
        #expect(pauses.next(chance: 0) == .milliseconds(100))
    }

    @Test("A pause never overflows and is never zero, for any number of attempts and any setting")
    func extremes() {
        var pauses = BackoffPauses(Backoff(initial: .zero, maximum: .seconds(Int64.max / 2), jitter: 7))
        for _ in 0..<200 {
            let pause = pauses.next(chance: 1)
            #expect(pause >= .milliseconds(1))
        }
    }
}
