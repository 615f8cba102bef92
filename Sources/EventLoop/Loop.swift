import CLibuv
import Glibc
import Synchronization

/// The loop itself: its thread, its queues, and libuv's loop, which handles everything except streams. One per process,
/// never destroyed.
///
/// Unchecked because the compiler cannot verify which fields belong to the loop thread: all `var`s do. `inbox`
/// has its own lock; `bell` may be rung from any thread.
///
/// `@exclusivity(unchecked)`: docs/architecture.md explains why.
final class Loop: @unchecked Sendable {  // its `var`s belong to the loop thread
    static let shared = Loop()

    /// The maximum number of jobs per turn: enough to hide the cost of a turn, and few enough (well under a millisecond
    /// for small jobs) that descriptors are checked in between.
    static let jobsPerTurn = 1_024
    /// The time for which a turn runs jobs; a single job may take longer.
    private static let jobNanosecondsPerTurn: UInt64 = 4_000_000
    /// The number of jobs after which the clock is read; a power of two.
    private static let jobsPerLook = 8
    /// The maximum size of one read of a stream.
    static let readBufferBytes = 65_536
    /// The number of readable bytes after the data that a stream delivers, for parsers that read whole vector
    /// registers.
    static let readPaddingBytes = 64

    let raw: UnsafeMutablePointer<uv_loop_t>
    /// The buffer for the reads of all streams. Its contents are valid during one callback. Zeroed once, so that its
    /// padding is defined.
    let readBuffer: UnsafeMutableRawPointer
    /// Wakes the loop when the inbox is not empty. Our own descriptor instead of libuv's `uv_async_t`, with which the
    /// loop spins until the waking thread runs again: for milliseconds if both share a processor.
    private let bell = clibuv_make_bell()
    /// The epoll set that the loop waits for.
    let streams = StreamPoll()
    /// A handle that is always active: without one libuv does nothing.
    private let prepare = UnsafeMutablePointer<uv_prepare_t>.allocate(capacity: 1)
    private let inbox = Inbox()
    private let thread: pthread_t

    @exclusivity(unchecked) private(set) var jobs = WorkQueue()
    private var batch: [Work] = []
    @exclusivity(unchecked) private var hooks: [TurnEndHook] = []
    /// The turn's time in nanoseconds; 0 until its first use in a turn.
    @exclusivity(unchecked) private var turnStart: UInt64 = 0
    @exclusivity(unchecked) var lagMeter = LagMeter()
    @exclusivity(unchecked) private var turnMeter = TurnMeter()
    /// Detects long turns; never released. `nil` if it was not started.
    @exclusivity(unchecked) var watch: Unmanaged<LoopWatch>?
    /// Called with each slow turn, at its end.
    var onSlowTurn: (@LoopActor (SlowTurn) -> Void)?
    /// Whether a timer's callback is running. A timer that is due immediately must then wait for the next turn, or
    /// libuv would never return.
    var isFiringTimers = false

    private init() {
        raw = .allocate(capacity: 1)
        readBuffer = .allocate(byteCount: Self.readBufferBytes + Self.readPaddingBytes, alignment: 64)
        readBuffer.initializeMemory(as: UInt8.self, repeating: 0, count: Self.readBufferBytes + Self.readPaddingBytes)
        require(uv_loop_init(raw), "uv_loop_init")
        precondition(bell >= 0, "the loop cannot create its event descriptor: error \(errno)")
        streams.add(bell, as: .bell)
        streams.add(uv_backend_fd(raw), as: .libuv)
        require(uv_prepare_init(raw, prepare), "uv_prepare_init")
        require(uv_prepare_start(prepare) { _ in }, "uv_prepare_start")
        var thread = pthread_t()
        let status = pthread_create(&thread, nil, { _ in Loop.run() }, nil)
        self.thread = thread
        precondition(
            status == 0, "The loop thread cannot be started: \(SystemError(code: status, operation: "thread"))")
    }

    private static func run() -> UnsafeMutableRawPointer? {
        clibuv_prepare_thread("loop")
        // Waits for the init above to end.
        let loop = Loop.shared
        while true { loop.turn() }
    }

    var isCurrentThread: Bool { pthread_equal(pthread_self(), thread) != 0 }

    // MARK: Work

    func enqueue(_ work: Work) {
        if isCurrentThread {
            jobs.append(work)
        } else if inbox.add(work) {
            clibuv_ring_bell(bell)
        }
    }

    /// Appends work after all work that other threads have enqueued. Loop thread.
    func enqueueBehindInbox(_ work: Work) {
        takeInbox()
        jobs.append(work)
    }

    private func takeInbox() {
        beginTurn()
        inbox.take(into: &batch)
        for work in batch { jobs.append(work) }
        batch.removeAll(keepingCapacity: true)
    }

    private func runJobs() {
        var budget = Self.jobsPerTurn
        let end = clibuv_monotonic_ns() &+ Self.jobNanosecondsPerTurn
        while budget > 0, !jobs.isEmpty {
            if budget & (Self.jobsPerLook - 1) == 0, budget < Self.jobsPerTurn, clibuv_monotonic_ns() >= end { return }
            budget -= 1
            switch jobs.removeFirst() {
            case .actorJob(let job): job.runSynchronously(on: LoopSerialExecutor.unowned)
            case .taskJob(let job): job.runSynchronously(on: LoopExecutor.unowned)
            case .closure(let work): LoopActor.assumeIsolated(passing: work) { $0.body() }
            case .function(let function, let argument, 0): function(argument)
            case .function(let function, let argument, let holder):
                LoopHolder.cell.pointee.store(holder, ordering: .releasing)
                function(argument)
                LoopHolder.cell.pointee.store(0, ordering: .relaxed)
            }
        }
    }

    // MARK: Turns

    /// Waits for events, delivers them, and ends the turn. libuv is called if it has an event, a timer that is due or a
    /// changed handle: it is embedded as its manual describes for `uv_backend_fd`.
    private func turn() {
        let milliseconds = uv_backend_timeout(raw)
        let count = streams.wait(milliseconds: jobs.isEmpty ? milliseconds : 0)
        // The delays of timers begin here.
        uv_update_time(raw)
        var isLibuvReady = milliseconds == 0
        if count > 0 {
            beginTurn()
            let others = streams.handOut(count)
            if others.bell {
                clibuv_silence_bell(bell)
                takeInbox()
            }
            if others.libuv { isLibuvReady = true }
        }
        if isLibuvReady { uv_run(raw, UV_RUN_NOWAIT) }
        endTurn()
    }

    /// Begins the turn, unless it has begun. Called first in every turn with an event, and in every callback from
    /// libuv, so that the clock is read once in a turn, at its first event.
    @inline(__always)
    func beginTurn() {
        guard turnStart == 0 else { return }
        turnStart = clibuv_monotonic_ns()
        watch?._withUnsafeGuaranteedRef { $0.turnBegan(turnStart) }
    }

    var turnTime: MonotonicInstant {
        beginTurn()
        return MonotonicInstant(nanoseconds: turnStart)
    }

    /// Runs jobs and hooks.
    private func endTurn() {
        if !jobs.isEmpty {
            beginTurn()
            runJobs()
        }
        LoopActor.assumeIsolated(passing: self) { $0.runHooks() }
        streams.endTurn()
        if turnStart != 0 {
            let end = clibuv_monotonic_ns()
            lagMeter.note(from: turnStart, to: end)
            if let cpu = turnMeter.note(from: turnStart, to: end, readCPU: clibuv_thread_cpu_ns) {
                report(nanoseconds: end &- turnStart, cpu: cpu)
            }
            watch?._withUnsafeGuaranteedRef { $0.turnEnded(turnStart, end) }
            turnStart = 0
        }
    }

    private func report(nanoseconds: UInt64, cpu: UInt64) {
        guard let onSlowTurn else { return }
        let turn = SlowTurn(
            duration: .nanoseconds(Int64(clamping: nanoseconds)), cpuTime: .nanoseconds(Int64(clamping: cpu)))
        LoopActor.assumeIsolated(passing: turn, onSlowTurn)
    }

    @LoopActor
    func addHook(_ body: @escaping @LoopActor () -> Void) -> TurnEndHook {
        let hook = TurnEndHook(body)
        hooks.append(hook)
        return hook
    }

    @LoopActor
    private func runHooks() {
        // By index: a hook may add others, which then already run in this turn, and may remove any.
        var index = 0
        var removed = false
        while index < hooks.count {
            let hook = hooks[index]
            if hook.isRemoved { removed = true } else { hook.body() }
            index += 1
        }
        if removed { hooks.removeAll { $0.isRemoved } }
    }
}

/// Measures the longest time, such as that of a turn, within the last one to two windows of five seconds.
public struct LagMeter {
    private static let windowNanoseconds: UInt64 = 5_000_000_000
    private var windowStart: UInt64 = 0
    private var current: UInt64 = 0
    private var previous: UInt64 = 0

    /// Creates a meter without measurements.
    public init() {}

    /// Records a time that ended at `now`.
    public mutating func note(_ time: Duration, at now: MonotonicInstant) {
        let nanoseconds = UInt64(max(.zero, time) / .nanoseconds(1))
        note(from: now.nanoseconds - min(now.nanoseconds, nanoseconds), to: now.nanoseconds)
    }

    mutating func note(from start: UInt64, to end: UInt64) {
        roll(to: end)
        current = max(current, end - start)
    }

    /// Returns the longest time.
    public mutating func longest(at now: MonotonicInstant) -> Duration {
        roll(to: now.nanoseconds)
        return .nanoseconds(Int64(clamping: max(current, previous)))
    }

    private mutating func roll(to now: UInt64) {
        guard now >= windowStart + Self.windowNanoseconds else { return }
        previous = now < windowStart + 2 * Self.windowNanoseconds ? current : 0
        current = 0
        windowStart = now
    }
}
