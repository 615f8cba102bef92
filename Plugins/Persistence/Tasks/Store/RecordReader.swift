import struct Foundation.Data
import GRDB
import TaskKit

/// The records in an open database, to be read: what one call finds there, as SQL.
///
/// Lives as long as one visit to the database, on the visitor's thread. Throws a `BridgeError` where the call is at
/// fault; any other error is a failure of the storage.
class RecordReader {
    let database: Database
    let collections: CollectionCache
    private let statements: StatementCache

    init(_ database: Database, _ statements: StatementCache, _ collections: CollectionCache) {
        (self.database, self.statements, self.collections) = (database, statements, collections)
    }

    /// The record of a key; nil: there is none.
    ///
    /// - Parameter body: Gets the record's version and its JSON text, which is valid until it returns.
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
    /// - Parameter body: Gets a record, which is valid until it returns; returns whether to go on.
    func forEachRecord(
        of collection: Collection, after key: [UInt8], _ body: (StoredRecord) throws -> Bool
    ) throws {
        let statement = try statement(
            "SELECT key, version, body FROM record WHERE collection = ? AND key > ? ORDER BY key")
        try key.withUnsafeBytes { key in
            statement.bind(collection.id, at: 1)
            statement.bind(blob: key, at: 2)
            // `step` has done so at the end of the rows.
            defer { statement.reset() }
            while try statement.step() {
                let record = StoredRecord(
                    key: try statement.bytes(0), version: statement.int64(1), body: try statement.bytes(2))
                guard try body(record) else { return }
            }
        }
    }

    // MARK: Namespaces and their tables

    /// A table's number and its namespace's.
    struct Collection {
        var id: Int64
        var namespace: Int64
    }

    /// The table's number; nil: nothing was ever stored there.
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

    /// For what is done for every record.
    func statement(_ sql: StaticString) throws -> PreparedStatement { try statements.statement(sql, database) }

    func row(_ sql: String, _ arguments: StatementArguments) throws -> Row? {
        try Row.fetchOne(database.cachedStatement(sql: sql), arguments: arguments)
    }
}

/// A record as it lies in the database's memory.
struct StoredRecord {
    var key: UnsafeRawBufferPointer
    var version: Int64
    /// Its JSON text.
    var body: UnsafeRawBufferPointer

    func json() throws -> JSON { try JSON(parsing: body) }
}

/// The numbers of tables, kept from one visit to the next: they never change. Code that rolls back must empty it: a
/// table may have been made by what is undone.
final class CollectionCache {
    /// Some megabytes at worst; then it begins again.
    private static let capacity = 4096

    private var collections: [TablePath: RecordReader.Collection] = [:]
    /// The one that was asked for last, and most likely is next: comparing is cheaper than hashing.
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

/// The database's tables contradict one another.
struct StoreInconsistency: Error {}

extension Row {
    /// A BLOB, copied.
    func bytes(_ index: Int) throws -> [UInt8] { try withUnsafeData(atIndex: index) { Array($0 ?? Data()) } }
}
