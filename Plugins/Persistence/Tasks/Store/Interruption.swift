import GRDB
import Synchronization
import TaskKit

/// Ends long work on a database early, when no one waits for it any longer. Any thread.
final class Interruption: Sendable {
    private struct State {
        var isSet = false
        var queue: DatabaseQueue?
    }

    private let state = Mutex(State())

    /// Behind the mutex, so that the database cannot be closed meanwhile; to interrupt waits for nothing.
    func fire() {
        state.withLock { state in
            state.isSet = true
            state.queue?.interrupt()
        }
    }

    /// - Throws: `call.cancelled` where no one waits any longer.
    func check() throws(BridgeError) {
        if state.withLock({ $0.isSet }) { throw .cancelled }
    }

    /// Gives access to a database whose statements are interrupted when no one waits any longer. It is the caller's to
    /// close, afterwards.
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
