import Synchronization
import TaskKit

/// Checks a database while it is in use, if it is too large to be checked before. The check has its own thread and
/// connection.
final class LateCheck: Sendable {
    let lane = BlockingThreads(batch: "records-check")
    /// The interruption of the last check.
    private let interruption = Mutex<Interruption?>(nil)
    /// Held while the check has the database open.
    private let isOpen = Mutex(())

    /// - Parameter end: Receives the finding, on the lane's thread and before ``stop()`` returns. Not called if the
    ///   check was stopped.
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

    /// Stops the check, which has closed the database when this returns. Waits for the thread, which ends at once.
    func stop() {
        interruption.withLock { $0.take()?.fire() }
        isOpen.withLock { _ in }
    }
}
