import GRDB
import Synchronization
import TaskKit

/// Interrupts long work on a database when its result is no longer needed. Any thread.
final class Interruption: Sendable {
    private struct State {
        var isSet = false
        var queue: DatabaseQueue?
    }

    private let state = Mutex(State())

    /// Interrupts the work. Holds the mutex, so that the database cannot be closed in the meantime. Does not block.
    func fire() {
        state.withLock { state in
            state.isSet = true
            state.queue?.interrupt()
        }
    }

    /// - Throws: `call.cancelled` if the work was interrupted.
    func check() throws(BridgeError) {
        if state.withLock({ $0.isSet }) { throw .cancelled }
    }

    /// Calls `body` with a database whose statements `fire` interrupts. The caller must close the database afterwards.
    func during<T>(_ queue: DatabaseQueue, _ body: (Database) throws -> T) throws -> T {
        state.withLock { $0.queue = queue }
        defer { state.withLock { $0.queue = nil } }
        try check()
        do {
            return try queue.inDatabase(body)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
            throw BridgeError.cancelled
        }
    }
}
