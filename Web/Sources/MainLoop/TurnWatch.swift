internal import CWebKitGTK
internal import EventLoop
internal import Glibc

/// Measures the turns of the loop, from the end of a wait for events to the next wait, and the callbacks within them.
@MainActor
enum TurnWatch {
    private(set) static var long = LongTurns()
    /// The number of turns.
    private(set) static var number = 0
    private static var meter = TurnMeter()
    private static var work = TurnWork()
    /// The thread's CPU time when the running callback began; `nil` if none runs.
    private static var callbackStart: UInt64?
    /// The work that the toolkit has begun within the turn, and the thread's CPU time at that moment.
    private static var begun: (name: String, start: UInt64)?
    /// The start of the turn, in nanoseconds of the monotonic clock.
    private static var beginning: UInt64 = 0

    /// Installs a GLib poll function that notes each wait. Must be called before the loop runs.
    static func start() {
        beginAgain()
        g_main_context_set_poll_func(
            nil,
            { descriptors, count, timeout in
                // The default context waits only on the main thread.
                MainActor.assumeIsolated { TurnWatch.endTurn() }
                let ready = g_poll(descriptors, count, timeout)
                MainActor.assumeIsolated { TurnWatch.beginTurn() }
                return ready
            })
    }

    /// Restarts the measurement of the turn: earlier work of the thread does not count.
    static func beginAgain() {
        beginning = time(CLOCK_MONOTONIC)
        meter = TurnMeter()
        _ = note(until: beginning)
        work.begin()
        if callbackStart != nil { callbackStart = time(CLOCK_THREAD_CPUTIME_ID) }
    }

    private static func beginTurn() {
        beginning = time(CLOCK_MONOTONIC)
        number &+= 1
    }

    /// Runs a callback of the program and notes its CPU time. A nested callback is part of the outer one.
    ///
    /// - Parameters:
    ///   - name: The name of the callback, for people.
    ///   - body: The callback.
    static func run<Result>(_ name: String, _ body: () -> Result) -> Result {
        guard callbackStart == nil else { return body() }
        callbackStart = time(CLOCK_THREAD_CPUTIME_ID)
        defer {
            if let callbackStart { work.add(time(CLOCK_THREAD_CPUTIME_ID) - callbackStart, of: name) }
            callbackStart = nil
        }
        return body()
    }

    /// Notes that the toolkit begins work of this name.
    static func begin(_ name: String) { begun = (name, time(CLOCK_THREAD_CPUTIME_ID)) }

    /// Notes that the toolkit has ended this work.
    static func end() {
        guard let begun else { return }
        work.addToolkit(time(CLOCK_THREAD_CPUTIME_ID) - begun.start, for: begun.name)
        self.begun = nil
    }

    private static func endTurn() {
        let end = time(CLOCK_MONOTONIC)
        if let spent = note(until: end) {
            let turn = SlowTurn(duration: .nanoseconds(end - beginning), cpuTime: .nanoseconds(spent))
            long.note(turn, of: work.largest(of: spent), own: .nanoseconds(work.own))
        }
        work.begin()
        begun = nil
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
