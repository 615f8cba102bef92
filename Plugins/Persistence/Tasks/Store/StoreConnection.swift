import DurableDatabase
import GRDB
import TaskKit

/// An open connection to the database, with its caches.
///
/// Used by one thread at a time.
final class StoreConnection {
    private let queue: DatabaseQueue
    private let statements = StatementCache()
    /// The known tables of this connection.
    let collections = CollectionCache()
    /// Receives messages for the operator.
    fileprivate let log: @Sendable (String) -> Void

    init(_ queue: DatabaseQueue, log: @escaping @Sendable (String) -> Void = { _ in }) {
        (self.queue, self.log) = (queue, log)
    }

    /// Calls `body` with the database. `body` must end the transactions that it begins.
    func use<T>(_ body: (Database, StatementCache) throws -> T) rethrows -> T {
        try queue.inDatabase { try body($0, statements) }
    }

    /// Ends a read transaction that was kept open.
    func endTransaction() {
        use { database, _ in
            if database.isInsideTransaction { try? database.rollback() }
        }
    }

    /// Moves the content of the log into the database, unless a reader still reads an earlier state. Does not wait for
    /// readers.
    func emptyLog() throws {
        try queue.inDatabase { database in
            let busyTimeout = try Int.fetchOne(database, sql: "PRAGMA busy_timeout") ?? 0
            try database.execute(sql: "PRAGMA busy_timeout = 0")
            defer { try? database.execute(sql: "PRAGMA busy_timeout = \(busyTimeout)") }
            _ = try? database.checkpoint(.truncate)
        }
    }

    /// - Parameter isLast: Whether to move the content of the log into the database.
    func close(isLast: Bool = false) {
        statements.removeAll()
        do {
            if isLast { _ = try queue.writeWithoutTransaction { try $0.checkpoint(.truncate) } }
            try queue.close()
        } catch {
            // No data is lost: the log is read when the database is opened again.
            log("the database could not be closed: \(BridgeError(storage: error).message)")
        }
    }
}

/// A connection that is opened at its first use, and again after a failure of the storage.
typealias KeptConnection = ReopenableConnection<StoreConnection, BridgeError>

extension KeptConnection {
    /// - Parameters:
    ///   - queue: The connection; `nil` if it is not open yet.
    ///   - log: Receives messages for the operator.
    ///   - open: Opens the connection. If that fails after a failure of the storage, callers receive the error of that
    ///     failure.
    init(
        _ queue: DatabaseQueue? = nil, log: @escaping @Sendable (String) -> Void,
        open: @escaping @Sendable () throws(BridgeError) -> DatabaseQueue
    ) {
        self.init(queue.map { StoreConnection($0, log: log) }) { cause throws(BridgeError) in
            do throws(BridgeError) {
                let connection = StoreConnection(try open(), log: log)
                if cause != nil { log("the database was opened again") }
                return connection
            } catch {
                log(error.message)
                throw cause ?? error.withoutDetails
            }
        }
    }

    /// Drops the connection after a failure of the storage.
    mutating func abandon(_ error: BridgeError) {
        let failed = fail(error)
        failed?.log(error.message)
        failed?.close()
    }

    /// - Parameter isLast: Whether to move the content of the log into the database.
    mutating func close(isLast: Bool) { take()?.close(isLast: isLast) }
}
