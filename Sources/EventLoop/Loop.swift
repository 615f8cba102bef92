import CLibuv
internal import DequeModule
import Glibc
import Synchronization

/// The loop itself: libuv's, its thread, its queues. One per process, never torn down.
///
/// Unchecked because the compiler cannot see which fields belong to the loop thread: all `var`s do, except `thread`,
/// which is written once before the instance is visible to any other code. `inbox` has its own lock; `bell` may be rung
/// from any thread.
///
/// `@exclusivity(unchecked)`: docs/architecture.md says why.
final class Loop: @unchecked Sendable {  // its `var`s belong to the loop thread
    static let shared = Loop()

    /// Jobs per turn: enough to hide the cost of a turn, few enough (well under a millisecond of small ones) that
    /// descriptors are looked at in between.
    static let jobsPerTurn = 1_024
    /// For how long a turn runs jobs, where one alone does not take longer.
    private static let jobNanosecondsPerTurn: UInt64 = 4_000_000
    /// After so many jobs the clock is looked at; a power of two.
    private static let jobsPerLook = 8
    /// What one read of a stream takes at most.
    static let readBufferBytes = 65_536
    /// Readable bytes behind what a stream hands out, for parsers that look at whole vector registers.
    static let readPaddingBytes = 64

    let raw: UnsafeMutablePointer<uv_loop_t>
    /// What every stream reads into; valid for the one callback. Zeroed once, so that its padding is defined.
    let readBuffer: UnsafeMutableRawPointer
    /// Rung when there is something in the inbox. A descriptor of our own instead of libuv's `uv_async_t`: there the
    /// loop spins until the thread that has woken it runs again, for milliseconds where both share a processor.
    private let bell = clibuv_make_bell()
    private let bellPoll = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
    private let prepare = UnsafeMutablePointer<uv_prepare_t>.allocate(capacity: 1)
    private let idle = UnsafeMutablePointer<uv_idle_t>.allocate(capacity: 1)
    private let inbox = Inbox()
    private let thread: pthread_t

    @exclusivity(unchecked) private(set) var jobs = WorkQueue()
    private var batch: [Work] = []
    @exclusivity(unchecked) private var hooks: [TurnEndHook] = []
    /// The turn's time in nanoseconds; 0 until it is first asked for in a turn.
    @exclusivity(unchecked) private var turnStart: UInt64 = 0
    @exclusivity(unchecked) var lagMeter = LagMeter()
    @exclusivity(unchecked) private var turnMeter = TurnMeter()
    /// Notices turns that go on for long; never released.
    @exclusivity(unchecked) var watch: Unmanaged<LoopWatch>?
    /// Gets each slow turn, at its end.
    var onSlowTurn: (@LoopActor (SlowTurn) -> Void)?
    /// Streams hand out what a poll has found.
    @exclusivity(unchecked) var isHandingOutEvents = false
    /// Streams that are to be watched for something else, from the next poll on.
    @exclusivity(unchecked) var streamsToWatch: [UnixStream] = []
    /// Streams that are no longer to be watched, and the turn in which that began, the first one first. Until libuv is
    /// called their events are ignored, which costs a tenth of the system calls that end and begin the watch.
    @exclusivity(unchecked) private var streamsToSuspend = Deque<(stream: UnixStream, turn: UInt64)>()
    /// Turns so far: at every end of one.
    @exclusivity(unchecked) private var turns: UInt64 = 0
    /// How many turns a stream stays watched: most wait for fewer, and are read again without a call of libuv.
    private static let turnsToSuspension: UInt64 = 8
    /// How many of them a turn takes.
    private static let suspensionsPerTurn = 32
    /// How many streams stay watched; further ones are suspended at once. libuv repeats a poll that fills its 1,024
    /// events, and would find the same ones up to 48 times.
    private static let maximumWatchedInVain = 64
    /// A timer's callback is running: one that is due at once must wait for the next turn, or libuv never leaves.
    var isFiringTimers = false

    private init() {
        raw = .allocate(capacity: 1)
        readBuffer = .allocate(byteCount: Self.readBufferBytes + Self.readPaddingBytes, alignment: 64)
        readBuffer.initializeMemory(as: UInt8.self, repeating: 0, count: Self.readBufferBytes + Self.readPaddingBytes)
        require(uv_loop_init(raw), "uv_loop_init")
        // The three callbacks below run on the loop thread, which touches `shared` only once this init is over.
        precondition(bell >= 0, "The loop has no descriptor to be woken by: error \(errno)")
        require(uv_poll_init(raw, bellPoll, bell), "uv_poll_init")
        require(
            uv_poll_start(bellPoll, Int32(UV_READABLE.rawValue)) { _, _, _ in Loop.shared.takeRungInbox() },
            "uv_poll_start")
        require(uv_idle_init(raw, idle), "uv_idle_init")
        require(uv_prepare_init(raw, prepare), "uv_prepare_init")
        require(uv_prepare_start(prepare) { _ in Loop.shared.endTurn() }, "uv_prepare_start")
        var thread = pthread_t()
        let status = pthread_create(&thread, nil, { _ in Loop.run() }, nil)
        self.thread = thread
        precondition(
            status == 0, "The loop thread cannot be started: \(SystemError(code: status, operation: "thread"))")
    }

    private static func run() -> UnsafeMutableRawPointer? {
        clibuv_prepare_thread("loop")
        // Waits for the init above to end. The bell keeps uv_run from ever returning.
        uv_run(Loop.shared.raw, UV_RUN_DEFAULT)
        preconditionFailure("The loop ended, though it has a handle that is never closed.")
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

    /// Behind everything that other threads have handed over. Loop thread.
    func enqueueBehindInbox(_ work: Work) {
        takeInbox()
        jobs.append(work)
    }

    private func takeRungInbox() {
        clibuv_silence_bell(bell)
        takeInbox()
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

    /// Called first in every callback from libuv: the turn's clock is read once, at its first event.
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

    /// Runs between libuv's timers and its poll: the end of one turn.
    private func endTurn() {
        if !jobs.isEmpty {
            beginTurn()
            runJobs()
        }
        LoopActor.assumeIsolated(passing: self) { $0.runHooks() }
        turns &+= 1
        watchStreams()
        if turnStart != 0 {
            let end = clibuv_monotonic_ns()
            lagMeter.note(from: turnStart, to: end)
            if let cpu = turnMeter.note(from: turnStart, to: end, readCPU: clibuv_thread_cpu_ns) {
                report(nanoseconds: end &- turnStart, cpu: cpu)
            }
            watch?._withUnsafeGuaranteedRef { $0.turnEnded(turnStart, end) }
            turnStart = 0
        }
        // An active idle handle makes the coming poll return at once.
        if jobs.isEmpty { uv_idle_stop(idle) } else { uv_idle_start(idle) { _ in } }
    }

    private func watchStreams() {
        guard !streamsToWatch.isEmpty || !streamsToSuspend.isEmpty else { return }
        LoopActor.assumeIsolated(passing: self) { loop in
            for stream in loop.streamsToWatch { stream.endTurn() }
            loop.streamsToWatch.removeAll(keepingCapacity: true)
            var budget = Loop.suspensionsPerTurn
            while budget > 0, let first = loop.streamsToSuspend.first,
                first.turn &+ Loop.turnsToSuspension <= loop.turns
            {
                loop.streamsToSuspend.removeFirst()
                if first.stream.endSuspension() { budget -= 1 }
            }
        }
    }

    /// The stream is no longer to be watched, if nothing reads it within some turns.
    ///
    /// - Returns: Whether it stays watched until then.
    @LoopActor
    func suspend(_ stream: UnixStream) -> Bool {
        guard streamsToSuspend.count < Self.maximumWatchedInVain else { return false }
        streamsToSuspend.append((stream, turns))
        return true
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
        // By index: a hook may add others, which then run in this turn already, and may remove any.
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

/// The longest time, such as that of a turn, of the last one to two windows of five seconds.
public struct LagMeter {
    private static let windowNanoseconds: UInt64 = 5_000_000_000
    private var windowStart: UInt64 = 0
    private var current: UInt64 = 0
    private var previous: UInt64 = 0

    /// Has noted nothing.
    public init() {}

    /// Notes a time that is over.
    public mutating func note(_ time: Duration, at now: MonotonicInstant) {
        let nanoseconds = UInt64(max(.zero, time) / .nanoseconds(1))
        note(from: now.nanoseconds - min(now.nanoseconds, nanoseconds), to: now.nanoseconds)
    }

    mutating func note(from start: UInt64, to end: UInt64) {
        roll(to: end)
        current = max(current, end - start)
    }

    /// The longest.
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
