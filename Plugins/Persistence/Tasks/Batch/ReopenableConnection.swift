import GRDB
import TaskKit

/// A connection that is opened when it is first needed, and anew after a failure of the storage: what a failure left
/// behind in it is not trusted.
struct ReopenableConnection {
    private enum State {
        case unopened
        case open(StoreConnection)
        /// To be opened anew; the error that the storage failed with.
        case failed(BridgeError)
    }

    private var state: State
    private let open: @Sendable () throws(BridgeError) -> DatabaseQueue
    private let log: @Sendable (String) -> Void

    /// - Parameters:
    ///   - queue: The connection, where it is open already.
    ///   - log: Gets sentences for the operator.
    ///   - open: Opens it.
    init(
        _ queue: DatabaseQueue? = nil, log: @escaping @Sendable (String) -> Void,
        open: @escaping @Sendable () throws(BridgeError) -> DatabaseQueue
    ) {
        state = queue.map { .open(StoreConnection($0)) } ?? .unopened
        (self.log, self.open) = (log, open)
    }

    var isOpen: Bool { if case .open = state { true } else { false } }

    /// The connection, opened if need be.
    ///
    /// - Throws: What it failed with last, where it cannot be opened anew.
    mutating func usable() throws(BridgeError) -> StoreConnection {
        if case .open(let connection) = state { return connection }
        do throws(BridgeError) {
            let connection = StoreConnection(try open())
            if case .failed = state { log("the database was opened anew") }
            state = .open(connection)
            return connection
        } catch {
            log(error.message)
            guard case .failed(let cause) = state else { throw error.withoutDetails }
            throw cause
        }
    }

    /// Ends a transaction that was left open to read.
    func endTransaction() {
        guard case .open(let connection) = state else { return }
        connection.use { database, _ in
            if database.isInsideTransaction { try? database.rollback() }
        }
    }

    /// Gives the connection up after a failure of the storage.
    mutating func fail(_ error: BridgeError) {
        log(error.message)
        if case .open(let connection) = state {
            do { try connection.close() } catch { log("the database was not closed tidily") }
        }
        state = .failed(error)
    }

    /// - Parameter isLast: Moves what the log holds into the database.
    mutating func close(isLast: Bool) {
        if case .open(let connection) = state {
            do {
                if isLast { try connection.checkpoint() }
                try connection.close()
            } catch {
                // Nothing is lost: the log is read when the database is opened next.
                log("the database was not closed tidily: \(BridgeError(storage: error).message)")
            }
        }
        state = .unopened
    }
}
