internal import CWebKitGTK
internal import EventLoop
internal import Glibc

/// Measures the turns of the loop: from the end of a wait for events to the next wait.
@MainActor
enum TurnWatch {
    private(set) static var long = LongTurns()
    private static var meter = TurnMeter()
    /// When the turn began, in nanoseconds of the monotonic clock.
    private static var beginning: UInt64 = 0

    /// Has GLib wait by a function that notes each wait. Before the loop runs.
    static func start() {
        beginning = time(CLOCK_MONOTONIC)
        // What the thread has done before is no turn.
        _ = note(until: beginning)
        g_main_context_set_poll_func(
            nil,
            { descriptors, count, timeout in
                // The default context waits on the main thread alone.
                MainActor.assumeIsolated { TurnWatch.endTurn() }
                let ready = g_poll(descriptors, count, timeout)
                MainActor.assumeIsolated { TurnWatch.beginning = TurnWatch.time(CLOCK_MONOTONIC) }
                return ready
            })
    }

    private static func endTurn() {
        let end = time(CLOCK_MONOTONIC)
        guard let spent = note(until: end) else { return }
        long.note(SlowTurn(duration: .nanoseconds(end - beginning), cpuTime: .nanoseconds(spent)))
    }

    private static func note(until end: UInt64) -> UInt64? {
        meter.note(from: beginning, to: end) { time(CLOCK_THREAD_CPUTIME_ID) }
    }

    private static func time(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
