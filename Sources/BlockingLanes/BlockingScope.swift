internal import Synchronization

/// A piece of work on a blocking thread, for which a Swift task waits. If that task is cancelled, the task for which
/// the thread waits in ``BlockingWait`` is cancelled, too. Any thread.
package final class BlockingScope: Sendable {
    /// The work that this thread does; `nil` if there is none.
    @TaskLocal static var current: BlockingScope?

    private struct State {
        var isCancelled = false
        /// The task for which the thread waits; `nil` if it does not wait.
        var waiting: Task<Void, Never>?
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether the waiting Swift task was cancelled.
    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Records that the waiting Swift task was cancelled.
    package func cancel() {
        let waiting = state.withLock { state in
            state.isCancelled = true
            return state.waiting
        }
        waiting?.cancel()
    }

    /// Does the work on this thread.
    ///
    /// - Parameter body: The work.
    package func run<T>(_ body: () throws -> T) rethrows -> T { try Self.$current.withValue(self, operation: body) }

    /// Sets the task for which the thread waits; `nil` if it does not wait any more.
    func wait(for task: Task<Void, Never>?) {
        let isCancelled = state.withLock { state in
            state.waiting = task
            return state.isCancelled
        }
        if isCancelled { task?.cancel() }
    }
}
