// EventLoop: one loop thread over libuv, and the services on it: timers, signals, Unix sockets, child processes,
// blocking work, and an executor that runs `async` code on the loop.
//
// The only module that imports libuv. C pointers stay inside the module; every C status is checked by `check` or
// `systemCall`. `@LoopActor` is the loop thread: code that is isolated to it needs no lock, and the compiler verifies
// this.

/// The loop of this process.
///
/// One turn: the events of the descriptors (streams, listeners), then the timers that are due, then the jobs (posted
/// functions and Swift tasks), then the turn-end hooks. Then the loop blocks until the next event.
public enum EventLoop {
    /// Starts the loop thread, unless it runs already. All other functions of this module start it themselves.
    public static func start() {
        _ = Loop.shared
    }

    /// Runs `body` soon on the loop thread, in the order of posting; never inside this call. Any thread.
    ///
    /// On the loop thread itself it needs no wake-up and runs in the same turn, unless very many jobs are waiting.
    public static func post(_ body: @escaping @LoopActor @Sendable () -> Void) {
        Loop.shared.enqueue(.closure(PostedClosure(body: body)))
    }

    /// Runs `function(argument)` like `post(_:)`, without allocating a closure. The caller keeps `argument` valid until
    /// then. Any thread.
    ///
    /// - Parameter holder: The value of ``LoopHolder`` while `function` runs.
    public static func post(
        _ function: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void, _ argument: UnsafeMutableRawPointer?,
        as holder: UInt32 = 0
    ) {
        Loop.shared.enqueue(.function(function, argument, holder))
    }

    /// The time, read at the first use in each turn: cheap, and the same within one turn.
    @LoopActor public static var now: MonotonicInstant { Loop.shared.turnTime }

    /// Calls `body` at the end of every turn, after I/O, timers and jobs and before the loop blocks, until the returned
    /// hook is removed. Hooks write the output that a turn has collected. They run in the order of their registration.
    /// Functions that they post run in the next turn, which then follows without blocking.
    @LoopActor @discardableResult
    public static func atTurnEnd(_ body: @escaping @LoopActor () -> Void) -> TurnEndHook {
        Loop.shared.addHook(body)
    }

    /// Called at the end of each turn of more than 5 ms, with the CPU time of the turn. Its own time belongs to no
    /// turn.
    @LoopActor public static var onSlowTurn: (@LoopActor (SlowTurn) -> Void)? {
        get { Loop.shared.onSlowTurn }
        set { Loop.shared.onSlowTurn = newValue }
    }

    /// The maximum delay of the loop within the last five to ten seconds, that is, its longest turn.
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

    /// Removes the hook. It is not called again, not in this turn either.
    public func remove() {
        isRemoved = true
    }
}
