import CLibuv
import Glibc

/// The loop thread as an actor: code that is isolated to it runs only there.
@globalActor
public actor LoopActor {
    /// The one instance.
    public static let shared = LoopActor()

    private init() {}

    /// The loop's executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { LoopSerialExecutor.unowned }

    /// Whether the calling thread is the loop thread. Any thread.
    public static var isOnLoopThread: Bool { Loop.shared.isCurrentThread }

    /// Runs `body` immediately. Traps on other threads: for callbacks that always arrive on the loop thread.
    @inline(__always)
    public static func assumeIsolated<T: Sendable, E: Error>(_ body: @LoopActor () throws(E) -> T) throws(E) -> T {
        precondition(isOnLoopThread, "This must run on the loop thread.")
        // Unsafe in form only: a function that is isolated to an actor has the same calling convention as one that is
        // not, and the precondition is exactly what the isolation requires.
        typealias Plain = () throws(E) -> T
        return try withoutActuallyEscaping(body) { (isolated) throws(E) -> T in
            try unsafeBitCast(isolated, to: Plain.self)()
        }
    }
}

extension LoopActor {
    /// Runs `body` like `assumeIsolated(_:)`, for very frequent callbacks. The value that `body` needs is passed
    /// instead of captured, because a closure without captures needs no allocation.
    @inline(__always)
    public static func assumeIsolated<Argument, R>(
        passing argument: Argument, _ body: @escaping @LoopActor (Argument) -> R
    ) -> R {
        precondition(isOnLoopThread, "This must run on the loop thread.")
        // Unsafe in form only, for the reason above.
        return unsafeBitCast(body, to: ((Argument) -> R).self)(argument)
    }
}

extension Unmanaged {
    /// Calls `body` with the object without counting a reference. The caller guarantees that another reference keeps it
    /// alive.
    ///
    /// Like the corresponding function of the standard library, but for closures that are isolated to an actor. That
    /// function does not declare isolation, so such a closure would begin with a search for its executor. This module
    /// does declare it.
    @inlinable @inline(__always)
    public func withUnowned<R>(_ body: (Instance) -> R) -> R { _withUnsafeGuaranteedRef(body) }
}

/// Runs the tasks on the loop thread that prefer this executor, so that their plain `async` functions stay on the loop:
/// `Task(executorPreference: LoopExecutor.shared) { … }`.
///
/// `Task.immediate(executorPreference: LoopExecutor.shared) { @concurrent in … }` begins immediately, inside the call.
/// Without `@concurrent`, in code isolated to `LoopActor`, the closure inherits that isolation, and Swift 6.3 then
/// starts it later.
public final class LoopExecutor: TaskExecutor {
    /// The one instance.
    public static let shared = LoopExecutor()

    static let unowned = UnownedTaskExecutor(shared)

    private init() {}

    /// Takes a job. Any thread; called by the Swift runtime.
    public func enqueue(_ job: consuming ExecutorJob) {
        Loop.shared.enqueue(.taskJob(UnownedJob(job)))
    }

    /// Returns the reference that the runtime keeps.
    public func asUnownedTaskExecutor() -> UnownedTaskExecutor { Self.unowned }
}

/// The executor of `LoopActor`.
///
/// A different object from `LoopExecutor`, because a job does not show whether it comes from an actor or from a task's
/// preference, and the runtime needs this when the job runs. With wrong information it treats every call of an `async`
/// function as a change of executors, and enqueues the task once more.
final class LoopSerialExecutor: SerialExecutor {
    static let shared = LoopSerialExecutor()
    static let unowned = UnownedSerialExecutor(ordinary: shared)

    func enqueue(_ job: consuming ExecutorJob) {
        Loop.shared.enqueue(.actorJob(UnownedJob(job)))
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor { Self.unowned }

    /// Traps off the loop thread. Called by the runtime for `assumeIsolated` and `preconditionIsolated`.
    func checkIsolated() {
        precondition(Loop.shared.isCurrentThread, "This must run on the loop thread.")
    }

    /// Whether this is the loop thread. Called by the runtime.
    func isIsolatingCurrentContext() -> Bool? { Loop.shared.isCurrentThread }
}
