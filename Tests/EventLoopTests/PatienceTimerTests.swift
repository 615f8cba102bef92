import EventLoop
import Testing

@Suite("Patience with another process")
@LoopActor
struct PatienceTimerTests {
    /// Keeps the loop from running, as a machine does that stands still.
    private func standStill(_ duration: Duration) {
        let end = MonotonicInstant.now() + duration
        while MonotonicInstant.now() < end {}
    }

    private func wait(_ duration: Duration) async {
        var timer: LoopTimer?
        await withCheckedContinuation { continuation in
            timer = LoopTimer { continuation.resume() }
            timer?.schedule(after: duration)
        }
        timer?.close()
    }

    @Test("ends once, after its time")
    func ends() async {
        let start = MonotonicInstant.now()
        var count = 0
        var timer: PatienceTimer?
        await withCheckedContinuation { continuation in
            timer = PatienceTimer(.milliseconds(20)) {
                count += 1
                continuation.resume()
            }
        }
        #expect(MonotonicInstant.now() >= start + .milliseconds(20))
        await wait(.milliseconds(40))
        #expect(count == 1)
        timer?.close()
    }

    @Test("does not end where it is closed")
    func closed() async {
        var isOver = false
        let timer = PatienceTimer(.milliseconds(4)) { isOver = true }
        timer.close()
        await wait(.milliseconds(40))
        #expect(!isOver)
    }

    @Test("does not end while the process stands still: what came meanwhile is read first")
    func stall() async {
        var isOver = false
        let timer = PatienceTimer(.milliseconds(40)) { isOver = true }
        await turns()
        for _ in 0..<3 {
            standStill(.milliseconds(100))
            // As input that came in that time.
            await turns()
            #expect(!isOver)
        }
        timer.close()
    }
}
