import DurableDatabase
import GRDB
import TaskKit

/// An open connection to the database, with what is kept for it.
///
/// Used by one thread at a time.
final class StoreConnection {
    private let queue: DatabaseQueue
    private let statements = StatementCache()
    /// Tables that exist as far as this connection knows.
    let collections = CollectionCache()
    /// Gets sentences for the operator.
    fileprivate let log: @Sendable (String) -> Void

    init(_ queue: DatabaseQueue, log: @escaping @Sendable (String) -> Void = { _ in }) {
        (self.queue, self.log) = (queue, log)
    }

    /// Gives access to the database. What `body` begins, it ends.
    func use<T>(_ body: (Database, StatementCache) throws -> T) rethrows -> T {
        try queue.inDatabase { try body($0, statements) }
    }

    /// Ends a transaction that was left open to read.
    func endTransaction() {
        use { database, _ in
            if database.isInsideTransaction { try? database.rollback() }
        }
    }

    /// Moves what the log holds into the database, unless a reader still reads what was there before. Does not wait for
    /// readers.
    func emptyLog() throws {
        try queue.inDatabase { database in
            let busyTimeout = try Int.fetchOne(database, sql: "PRAGMA busy_timeout") ?? 0
            try database.execute(sql: "PRAGMA busy_timeout = 0")
            defer { try? database.execute(sql: "PRAGMA busy_timeout = \(busyTimeout)") }
            _ = try? database.checkpoint(.truncate)
        }
    }

    /// - Parameter isLast: Moves what the log holds into the database.
    func close(isLast: Bool = false) {
        statements.removeAll()
        do {
            if isLast { _ = try queue.writeWithoutTransaction { try $0.checkpoint(.truncate) } }
            try queue.close()
        } catch {
            // Nothing is lost: the log is read when the database is opened next.
            log("the database was not closed tidily: \(BridgeError(storage: error).message)")
        }
    }
}

/// A connection that is opened when it is first needed, and again after a failure of the storage.
typealias KeptConnection = ReopenableConnection<StoreConnection, BridgeError>

extension KeptConnection {
    /// - Parameters:
    ///   - queue: The connection, where it is open already.
    ///   - log: Gets sentences for the operator.
    ///   - open: Opens it. Where that fails after a failure of the storage, callers get the error of that failure.
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

    /// - Parameter isLast: Moves what the log holds into the database.
    mutating func close(isLast: Bool) { take()?.close(isLast: isLast) }
}
