internal import Glibc

/// Waits on a thread that may block for the result of a Swift task.
package enum BlockingWait {
    /// Whether this thread must not be blocked because a Swift task runs on it, which must await instead.
    package static var isForbidden: Bool { withUnsafeCurrentTask { $0 != nil } }

    /// Runs `body` as a separate Swift task and blocks this thread until it has returned. The task is cancelled with
    /// the ``BlockingScope`` of this thread.
    ///
    /// - Parameter body: The work to wait for. It does not run on this thread.
    package static func value<T: Sendable>(of body: @escaping @Sendable () async -> T) -> T {
        let outcome = Outcome<T>()
        let scope = BlockingScope.current
        let task = Task.detached { outcome.set(await body()) }
        scope?.wait(for: task)
        defer { scope?.wait(for: nil) }
        return outcome.wait()
    }
}

/// A value that one thread waits for and a Swift task sets, once.
///
/// `@unchecked`: the semaphore is raised after `value` was set and lowered before it is read.
private final class Outcome<T: Sendable>: @unchecked Sendable {  // ordered by the semaphore; see above
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    private var value: T?

    init() { sem_init(semaphore, 0, 0) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func set(_ value: T) {
        self.value = value
        sem_post(semaphore)
    }

    func wait() -> T {
        // Repeated if a signal interrupts it.
        while sem_wait(semaphore) != 0 {}
        // `!`: set before the semaphore was raised.
        return value!
    }
}
