/// A separate thread for an actor, whose code may then block: for a database, or a library that waits.
///
///     actor Book {
///         private let thread = BlockingExecutor(name: "book")
///         nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
///         private var database: Database?
///         func open(_ path: String) throws { database = try Database(path) }
///     }
///
/// Several actors may share one: their code does not overlap. The thread starts with the first job, and ends when the
/// last reference is released and its jobs are done. For work that may overlap see ``BlockingThreads``.
public final class BlockingExecutor: SerialExecutor, TaskExecutor {
    private let threads: BlockingThreads

    /// - Parameter name: The thread's name in debuggers and `ps -L`, which show its first 15 bytes.
    public init(name: String) { threads = BlockingThreads(name: name) }

    /// Runs a job of an actor, or of a task that prefers this executor. Any thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        threads.submit { [self] in
            job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
        }
    }
}
