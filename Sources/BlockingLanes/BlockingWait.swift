internal import Glibc

/// Waits on a thread that may block for what a Swift task does.
package enum BlockingWait {
    /// Whether a thread must not be blocked because a Swift task runs on it: the task awaits instead.
    package static var isForbidden: Bool { withUnsafeCurrentTask { $0 != nil } }

    /// Runs `body` as a Swift task of its own and blocks this thread until it has returned. The task is cancelled with
    /// the ``BlockingScope`` of this thread.
    ///
    /// - Parameter body: What is waited for; not on this thread.
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
        // A signal interrupts it.
        while sem_wait(semaphore) != 0 {}
        // `!`: set before the semaphore was raised.
        return value!
    }
}
