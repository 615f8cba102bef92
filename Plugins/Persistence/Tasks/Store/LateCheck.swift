import Synchronization
import TaskKit

/// Checks a database that is too large to be checked before it is used: meanwhile, on a thread and a connection of its own.
final class LateCheck: Sendable {
    let lane = BlockingLane(name: "records-check")
    /// Of the check that was begun last.
    private let interruption = Mutex<Interruption?>(nil)
    /// Held while the database is open here.
    private let isOpen = Mutex(())

    /// - Parameter end: Gets the outcome, on the lane's thread, unless the check was stopped: nil, where all is well.
    func begin(_ file: StoreFile, end: @escaping @Sendable (BridgeError?) -> Void) {
        let begun = Interruption()
        interruption.withLock { $0 = begun }
        lane.submit { [self] in
            let outcome = isOpen.withLock { _ in
                Result { () throws(BridgeError) in
                    try begun.check()
                    return try file.checkIntegrity(begun)
                }
            }
            switch outcome {
            case .success(true): end(nil)
            case .success(false): break
            case .failure(let error): if error.code != .callCancelled { end(error) }
            }
        }
    }

    /// Ends it. The database is no longer open here afterwards. Waits for the thread, which waits for nothing.
    func stop() {
        interruption.withLock { $0.take()?.fire() }
        isOpen.withLock { _ in }
    }
}
