internal import Synchronization

/// A piece of work on a thread that blocks, for which a Swift task waits. Where that task is cancelled, what the thread
/// waits for in ``BlockingWait`` is cancelled too. Any thread.
package final class BlockingScope: Sendable {
    /// The work that this thread does.
    @TaskLocal static var current: BlockingScope?

    private struct State {
        var isCancelled = false
        /// What the thread waits for; nil: nothing.
        var waiting: Task<Void, Never>?
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether the Swift task that waits was cancelled.
    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// The Swift task that waits was cancelled.
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

    /// The thread waits for this from now on; nil: for nothing.
    func wait(for task: Task<Void, Never>?) {
        let isCancelled = state.withLock { state in
            state.waiting = task
            return state.isCancelled
        }
        if isCancelled { task?.cancel() }
    }
}
