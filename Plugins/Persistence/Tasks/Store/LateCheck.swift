import Synchronization
import TaskKit

/// Checks a database that is too large to be checked before it is used: meanwhile, on a thread and a connection of its
/// own.
final class LateCheck: Sendable {
    let lane = BlockingThreads(batch: "records-check")
    /// Of the check that was begun last.
    private let interruption = Mutex<Interruption?>(nil)
    /// Held while the database is open here.
    private let isOpen = Mutex(())

    /// - Parameter end: Gets what came of it, on the lane's thread and before ``stop()`` returns, unless it was
    ///   stopped.
    func begin(_ file: StoreFile, end: @escaping @Sendable (StoreFile.Finding) -> Void) {
        let begun = Interruption()
        interruption.withLock { $0 = begun }
        lane.submit { [self] in
            isOpen.withLock { _ in
                guard (try? begun.check()) != nil else { return }
                let finding = file.checkIntegrity(begun)
                if case .interrupted = finding { return }
                end(finding)
            }
        }
    }

    /// Ends it. The database is no longer open here afterwards. Waits for the thread, which waits for nothing.
    func stop() {
        interruption.withLock { $0.take()?.fire() }
        isOpen.withLock { _ in }
    }
}
