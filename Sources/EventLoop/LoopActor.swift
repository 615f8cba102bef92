import CLibuv
import Glibc

/// The loop thread, as an actor: what is isolated to it runs there and nowhere else.
@globalActor
public actor LoopActor {
    /// The one instance.
    public static let shared = LoopActor()

    private init() {}

    /// The loop's executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { LoopSerialExecutor.unowned }

    /// Whether the calling thread is the loop thread. Any thread.
    public static var isOnLoopThread: Bool { Loop.shared.isCurrentThread }

    /// Runs `body` here and now. Traps off the loop thread: for callbacks that are known to come on it.
    @inline(__always)
    public static func assumeIsolated<T: Sendable, E: Error>(_ body: @LoopActor () throws(E) -> T) throws(E) -> T {
        precondition(isOnLoopThread, "This must run on the loop thread.")
        // Unsafe in form only: a function that is isolated to an actor is called like one that is not, and the
        // precondition is just what the isolation asks for.
        typealias Plain = () throws(E) -> T
        return try withoutActuallyEscaping(body) { (isolated) throws(E) -> T in
            try unsafeBitCast(isolated, to: Plain.self)()
        }
    }
}

extension LoopActor {
    /// As `assumeIsolated(_:)`, for callbacks that come very often: what `body` needs is passed to it instead of
    /// captured, and a closure that captures nothing costs no allocation.
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
    /// Lends the object without counting a reference; the caller knows that another reference holds it meanwhile.
    ///
    /// As the standard library's function of this kind, for closures that are isolated to an actor: handed to that one,
    /// such a closure begins with a search for its executor, because the library says nothing of isolation. This module
    /// does.
    @inlinable @inline(__always)
    public func withUnowned<R>(_ body: (Instance) -> R) -> R { _withUnsafeGuaranteedRef(body) }
}

/// Runs tasks on the loop thread that prefer to be there, so that their plain `async` functions stay on the loop:
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

    /// The reference that the runtime keeps.
    public func asUnownedTaskExecutor() -> UnownedTaskExecutor { Self.unowned }
}

/// The executor of `LoopActor`.
///
/// Not the same object as `LoopExecutor`, because a job does not show whether it comes from an actor or from a task's
/// preference, and the runtime must know when the job runs: if it knows too much or too little, it takes every call of
/// an `async` function for a change of executors and sends the task round the queue once more.
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
