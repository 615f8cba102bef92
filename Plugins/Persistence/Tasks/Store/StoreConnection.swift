import GRDB

/// An open connection to the database, with what is kept for it.
///
/// Used by one thread at a time.
final class StoreConnection {
    private let queue: DatabaseQueue
    private let statements = StatementCache()
    /// Tables that exist as far as this connection knows.
    let collections = CollectionCache()

    init(_ queue: DatabaseQueue) { self.queue = queue }

    /// Gives access to the database. What `body` begins, it ends.
    func use<T>(_ body: (Database, StatementCache) throws -> T) rethrows -> T {
        try queue.inDatabase { try body($0, statements) }
    }

    /// Moves what the log holds into the database.
    func checkpoint() throws {
        _ = try queue.writeWithoutTransaction { try $0.checkpoint(.truncate) }
    }

    /// The same, unless somebody still reads what was there before. Waits for nobody.
    func emptyLog() throws {
        try queue.inDatabase { database in
            let busyTimeout = try Int.fetchOne(database, sql: "PRAGMA busy_timeout") ?? 0
            try database.execute(sql: "PRAGMA busy_timeout = 0")
            defer { try? database.execute(sql: "PRAGMA busy_timeout = \(busyTimeout)") }
            _ = try? database.checkpoint(.truncate)
        }
    }

    func close() throws {
        statements.removeAll()
        try queue.close()
    }
}
