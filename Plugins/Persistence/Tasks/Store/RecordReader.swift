import struct Foundation.Data
import GRDB
import TaskKit

/// Reads the records in an open database, with SQL.
///
/// It exists for one access to the database, on the thread of that access. It throws a `BridgeError` for an error of
/// the call; any other error is a failure of the storage.
class RecordReader {
    let database: Database
    let collections: CollectionCache
    private let statements: StatementCache

    init(_ database: Database, _ statements: StatementCache, _ collections: CollectionCache) {
        (self.database, self.statements, self.collections) = (database, statements, collections)
    }

    /// Calls `body` with the record of a key; returns `nil` if there is none.
    ///
    /// - Parameter body: Receives the record's version and its JSON text, which is valid until `body` returns.
    func read<T>(
        _ key: ExactText, in path: TablePath, _ body: (_ version: Int64, _ record: UnsafeRawBufferPointer) throws -> T
    ) throws -> T? {
        guard let collection = try findCollection(of: path) else { return nil }
        let statement = try statement("SELECT version, body FROM record WHERE collection = ? AND key = ?")
        return try key.utf8.withUnsafeBytes { key in
            statement.bind(collection.id, at: 1)
            statement.bind(blob: key, at: 2)
            guard try statement.step() else { return nil }
            defer { statement.reset() }
            return try body(statement.int64(0), statement.bytes(1))
        }
    }

    /// Steps through a table in the order of its keys.
    ///
    /// - Parameter body: Receives a record, which is valid until `body` returns. Returns whether to continue.
    func forEachRecord(
        of collection: Collection, after key: [UInt8], _ body: (StoredRecord) throws -> Bool
    ) throws {
        let statement = try statement(
            "SELECT key, version, body FROM record WHERE collection = ? AND key > ? ORDER BY key")
        try key.withUnsafeBytes { key in
            statement.bind(collection.id, at: 1)
            statement.bind(blob: key, at: 2)
            // Needed only before the end of the rows, where `step` resets.
            defer { statement.reset() }
            while try statement.step() {
                let record = StoredRecord(
                    key: try statement.bytes(0), version: statement.int64(1), body: try statement.bytes(2))
                guard try body(record) else { return }
            }
        }
    }

    // MARK: Namespaces and their tables

    /// The row ids of a table and of its namespace.
    struct Collection {
        var id: Int64
        var namespace: Int64
    }

    /// Returns the table's row id; `nil` if no record was ever stored in the table.
    func findCollection(of path: TablePath) throws -> Collection? {
        if let known = collections[path] { return known }
        let row = try row(
            """
            SELECT collection.id, collection.namespace FROM namespace
            JOIN collection ON collection.namespace = namespace.id
            WHERE namespace.uid = ? AND namespace.origin = ? AND collection.name = ?
            """,
            [Int64(path.namespace.uid), Data(path.namespace.origin.utf8), Data(path.table.utf8)])
        guard let row else { return nil }
        let found = Collection(id: row[0], namespace: row[1])
        collections[path] = found
        return found
    }

    // MARK: Statements

    /// Returns a prepared statement, for work that is done for every record.
    func statement(_ sql: StaticString) throws -> PreparedStatement { try statements.statement(sql, database) }

    func row(_ sql: String, _ arguments: StatementArguments) throws -> Row? {
        try Row.fetchOne(database.cachedStatement(sql: sql), arguments: arguments)
    }
}

/// A record in the database's memory.
struct StoredRecord {
    var key: UnsafeRawBufferPointer
    var version: Int64
    /// The record's JSON text.
    var body: UnsafeRawBufferPointer

    func json() throws -> JSON { try JSON(parsing: body) }
}

/// The row ids of tables, kept between accesses, because they never change. Code that rolls back must empty the cache:
/// the rolled back transaction may have created a table.
final class CollectionCache {
    /// The maximum number of tables, some megabytes at worst. A full cache is emptied.
    private static let capacity = 4096

    private var collections: [TablePath: RecordReader.Collection] = [:]
    /// The last used table, most likely also the next one: comparing is cheaper than hashing.
    private var last: (path: TablePath, collection: RecordReader.Collection)?

    subscript(path: TablePath) -> RecordReader.Collection? {
        get {
            if let last, last.path == path { return last.collection }
            guard let found = collections[path] else { return nil }
            last = (path, found)
            return found
        }
        set {
            if collections.count >= Self.capacity { collections = [:] }
            collections[path] = newValue
            last = nil
        }
    }

    func removeAll() { (collections, last) = ([:], nil) }
}

/// The error for tables of the database that are inconsistent.
struct StoreInconsistency: Error {}

extension Row {
    /// Returns a copy of a BLOB.
    func bytes(_ index: Int) throws -> [UInt8] { try withUnsafeData(atIndex: index) { Array($0 ?? Data()) } }
}
