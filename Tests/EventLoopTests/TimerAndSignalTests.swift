import Dispatch
import EventLoop
import Glibc
import Testing

@Suite(.timeLimit(.minutes(20))) @LoopActor struct LoopTimerTests {
    @Test("Timers fire in the order of their deadlines, and never early")
    func order() async {
        let start = MonotonicInstant.now()
        var fired: [Int] = []
        var early = 0
        var timers: [LoopTimer] = []
        let end = Box<CheckedContinuation<Void, Never>>()
        for milliseconds in [30, 10, 20, 0, 25, 5] {
            let deadline = start + .milliseconds(milliseconds)
            let timer = LoopTimer {
                fired.append(milliseconds)
                if MonotonicInstant.now() < deadline { early += 1 }
                if fired.count == 6 { end.value?.resume() }
            }
            timer.schedule(at: deadline)
            timers.append(timer)
        }
        await withCheckedContinuation { end.value = $0 }
        for timer in timers { timer.close() }
        #expect(fired == [0, 5, 10, 20, 25, 30])
        #expect(early == 0)
    }

    @Test("A deadline that has passed fires in the next turn; a cancelled or closed timer does not fire")
    func pastAndCancelled() async {
        var fired: [String] = []
        let cancelled = LoopTimer { fired.append("cancelled") }
        let closed = LoopTimer { fired.append("closed") }
        let rescheduled = LoopTimer { fired.append("rescheduled") }
        for timer in [cancelled, closed, rescheduled] { timer.schedule(after: .milliseconds(1)) }
        cancelled.cancel()
        closed.close()
        rescheduled.schedule(after: .milliseconds(2))
        await fire(after: .seconds(-5))
        await fire(after: .milliseconds(20))
        #expect(fired == ["rescheduled"])
        for timer in [cancelled, rescheduled] { timer.close() }
        closed.schedule(after: .zero)
        await turns()
        #expect(fired == ["rescheduled"])
    }

    @Test("A timer that repeatedly schedules itself for now does not block the loop")
    func selfScheduling() async {
        let box = Box<LoopTimer>()
        var count = 0
        await withCheckedContinuation { continuation in
            box.value = LoopTimer {
                count += 1
                if count < 5 { box.value?.schedule(after: .zero) } else { continuation.resume() }
            }
            box.value?.schedule(after: .zero)
        }
        box.value?.close()
        #expect(count == 5)
    }

    @Test("A closed timer releases the values that its closure holds")
    func released() {
        weak var held: Recorder?
        let timer: LoopTimer
        do {
            let recorder = Recorder()
            held = recorder
            timer = LoopTimer { recorder.hangUp() }
        }
        #expect(held != nil)
        timer.close()
        #expect(held == nil)
    }

    private func fire(after delay: Duration) async {
        await withCheckedContinuation { continuation in
            let box = Box<LoopTimer>()
            box.value = LoopTimer {
                box.value?.close()
                box.value = nil
                continuation.resume()
            }
            box.value?.schedule(after: delay)
        }
    }
}

@Suite(.timeLimit(.minutes(20))) @LoopActor struct SignalWatcherTests {
    @Test("A watched signal is reported to the loop each time")
    func signal() async throws {
        var count = 0
        let box = Box<CheckedContinuation<Void, Never>>()
        let watcher = try SignalWatcher(SIGUSR2) {
            count += 1
            box.value?.resume()
            box.value = nil
        }
        for expected in 1...3 {
            await withCheckedContinuation { continuation in
                box.value = continuation
                kill(getpid(), SIGUSR2)
            }
            #expect(count == expected)
        }
        watcher.close()
    }

    @Test("A signal that cannot be caught is refused")
    func uncatchable() {
        #expect(throws: SystemError.self) { try SignalWatcher(SIGKILL) {} }
    }

    @Test("With the main thread in dispatchMain, main-actor work runs and a signal sent to the process arrives")
    func dispatchMainProcess() async {
        // A thread of libdispatch, which blocks all signals, uses the loop first.
        await #expect(processExitsWith: .success) {
            DispatchQueue.global().async {
                EventLoop.post {
                    let watcher = try? SignalWatcher(SIGTERM) {
                        Task { @LoopActor in exit(await MainActor.run { LoopActor.isOnLoopThread ? 3 : 0 }) }
                    }
                    if watcher == nil { exit(4) }
                    kill(getpid(), SIGTERM)
                }
            }
            await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in }
        }
    }
}
