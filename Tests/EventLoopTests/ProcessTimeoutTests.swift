import Glibc
import Testing

@testable import EventLoop

@Suite("The timeout of another process", .timeLimit(.minutes(20)))
struct ProcessTimeoutTests {
    private let start = MonotonicInstant(nanoseconds: 5_000_000_000)

    /// Returns the time at which a timeout of four seconds ends if the loop runs at these times, in seconds from the
    /// start; `nil` if it does not end.
    private func end(_ times: [Double]) -> Double? {
        var timeout = TimeoutParts(.seconds(4), from: start)
        for time in times {
            let now = start + .milliseconds(Int(time * 1000))
            guard now >= timeout.next else { continue }
            if timeout.endPart(at: now) { return time }
        }
        return nil
    }

    @Test("ends after its time, later if the loop is late")
    func ends() {
        #expect(end([1, 2, 3, 4, 5]) == 4)
        #expect(end([0.5, 1.9, 2.5, 3.5, 4.5, 5.5, 6.5]) == 5.5)
    }

    @Test("does not count time in which this process did not run")
    func stall() {
        #expect(end([100, 101, 102, 103, 104]) == 104)
        #expect(end([1, 2, 3, 60, 61]) == 61)
        #expect(end([10, 20, 30, 40, 50, 60]) == nil)
    }

    @Test("does not count parts in which the other process was held up")
    func heldUp() {
        var timeout = TimeoutParts(.seconds(4), from: start)
        for second in 1...9 {
            let isOver = timeout.endPart(at: start + .seconds(second), isHeldUp: second <= 5)
            #expect(isOver == (second == 9))
        }
    }

    @Test("ends after ten times its duration in any case")
    func bound() {
        var timeout = TimeoutParts(.seconds(4), from: start)
        let parts = (1...100).first { timeout.endPart(at: start + .seconds($0), isHeldUp: true) }
        #expect(parts == 40)
    }

    @Test("fires once")
    @LoopActor
    func fires() async {
        var count = 0
        var timer: ProcessTimeout?
        await withCheckedContinuation { continuation in
            timer = ProcessTimeout(.milliseconds(4), for: getpid()) {
                count += 1
                continuation.resume()
            }
        }
        await turns()
        #expect(count == 1)
        timer?.close()
    }

    @Test("does not fire after it is closed")
    @LoopActor
    func closed() async {
        var isOver = false
        let timer = ProcessTimeout(.zero, for: getpid()) { isOver = true }
        timer.close()
        await turns()
        #expect(!isOver)
    }
}
