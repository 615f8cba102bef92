// EventLoop: one loop thread over libuv, and everything that happens on it: timers, signals, Unix sockets, child
// processes, blocking work, and an executor so that `async` code runs on the loop as well.
//
// The only importer of libuv. C pointers stay in here; a C status passes `check` or `systemCall`.
// `@LoopActor` is the loop thread: what is isolated to it needs no lock, and the compiler proves it.

/// The loop of this process.
///
/// One turn: what the descriptors reported (streams, listeners), then the timers that are due, then the jobs (posted
/// functions and Swift tasks), then the turn-end hooks, then the loop blocks until something happens.
public enum EventLoop {
    /// Starts the loop thread, unless it runs already. Everything else in this module starts it by itself.
    public static func start() {
        _ = Loop.shared
    }

    /// Runs `body` on the loop thread, soon, in the order of posting; never inside this call. Any thread.
    ///
    /// From the loop thread itself it costs no wake-up and happens in the same turn, unless very many are waiting.
    public static func post(_ body: @escaping @LoopActor @Sendable () -> Void) {
        Loop.shared.enqueue(.closure(PostedClosure(body: body)))
    }

    /// As `post(_:)`, without a closure to allocate. The caller keeps `argument` valid until then. Any thread.
    ///
    /// - Parameter holder: what ``LoopHolder`` says while it runs.
    public static func post(
        _ function: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void, _ argument: UnsafeMutableRawPointer?,
        as holder: UInt32 = 0
    ) {
        Loop.shared.enqueue(.function(function, argument, holder))
    }

    /// The time, read once per turn when first asked for: cheap, and the same for everything in one turn.
    @LoopActor public static var now: MonotonicInstant { Loop.shared.turnTime }

    /// Calls `body` at the end of every turn, after I/O, timers and jobs and before the loop blocks, until the returned
    /// hook is removed. This is where what a turn collected is written together. Hooks run in the order of their
    /// registration; what they post runs in the next turn, which then follows without blocking.
    @LoopActor @discardableResult
    public static func atTurnEnd(_ body: @escaping @LoopActor () -> Void) -> TurnEndHook {
        Loop.shared.addHook(body)
    }

    /// Called at the end of each turn of more than 5 ms, with the CPU time that it took. What it does belongs to no
    /// turn.
    @LoopActor public static var onSlowTurn: (@LoopActor (SlowTurn) -> Void)? {
        get { Loop.shared.onSlowTurn }
        set { Loop.shared.onSlowTurn = newValue }
    }

    /// How late the loop is: the longest that something could have had to wait for it within the last five to ten
    /// seconds, that is, its longest turn.
    @LoopActor public static var lag: Duration { Loop.shared.lagMeter.longest(at: Loop.shared.turnTime) }
}

/// A registered turn-end hook.
@LoopActor
public final class TurnEndHook {
    let body: @LoopActor () -> Void
    var isRemoved = false

    init(_ body: @escaping @LoopActor () -> Void) {
        self.body = body
    }

    /// The hook is not called again, not in this turn either.
    public func remove() {
        isRemoved = true
    }
}
