import struct Foundation.Data
import GRDB
import TaskKit

/// The records in an open database: what one call does to them, as SQL.
///
/// Lives as long as one visit to the database, on the lane's thread. Bodies are JSON texts that the caller has
/// checked. Throws a `BridgeError` where the call is at fault, which leaves the database as it was once the call's
/// savepoint is rolled back; any other error is a failure of the storage.
final class RecordStore {
    let database: Database
    /// What was changed so far, in the order of the versions.
    private(set) var changes: [Change] = []
    /// How many deletions a namespace remembers.
    private let maximumDeletions: Int64
    /// Whether a namespace may forget deletions now.
    private let mayForget: (Namespace) -> Bool
    private let collections: CollectionCache

    init(
        _ database: Database, collections: CollectionCache, maximumDeletions: Int64,
        mayForget: @escaping (Namespace) -> Bool
    ) {
        self.database = database
        self.collections = collections
        self.maximumDeletions = maximumDeletions
        self.mayForget = mayForget
    }

    /// What is known of a record without its body.
    struct Entry {
        var id: Int64
        var version: Int64
        var created: Int64
    }

    /// Carries out one call's changes; if it throws a `BridgeError`, it has changed nothing.
    func inSavepoint<T>(_ body: () throws -> T) throws -> T {
        let changesBefore = changes.count
        try execute("SAVEPOINT operation")
        do {
            let result = try body()
            try execute("RELEASE operation")
            return result
        } catch let error as BridgeError {
            try execute("ROLLBACK TO operation")
            try execute("RELEASE operation")
            changes.removeSubrange(changesBefore...)
            collections.removeAll()
            throw error
        }
    }

    // MARK: One record

    func create(_ key: ExactText, _ body: [UInt8], in place: Place) throws -> Int64 {
        let collection = try collection(of: place)
        if let entry = try entry(key, in: collection) { throw BridgeError.recordExists(key, version: entry.version) }
        let version = try nextVersion(in: collection)
        try execute(
            "INSERT INTO record (collection, key, version, created, body) VALUES (?, ?, ?, ?, CAST(? AS TEXT))",
            [collection.id, Data(key.utf8), version, version, Data(body)])
        try forgetDeletion(of: key, in: collection)
        changes.append(Change(place: place, key: key, version: version, kind: .create, previousVersion: 0))
        return version
    }

    /// The record's version and body; nil: there is none.
    func read(_ key: ExactText, in place: Place) throws -> (version: Int64, body: [UInt8])? {
        guard let collection = try findCollection(of: place) else { return nil }
        let row = try row(
            "SELECT version, CAST(body AS BLOB) FROM record WHERE collection = ? AND key = ?",
            [collection.id, Data(key.utf8)])
        return try row.map { try ($0[0], $0.bytes(1)) }
    }

    /// - Parameters:
    ///   - expected: The version that the record must have; nil: any.
    ///   - body: Makes the new body; its argument reads the old one.
    func update(
        _ key: ExactText, in place: Place, ifVersion expected: Int64?,
        _ body: (_ old: () throws -> [UInt8]) throws -> [UInt8]
    ) throws -> Int64 {
        let collection = try collection(of: place)
        let entry = try existing(key, in: collection, ifVersion: expected)
        let new = try body {
            let row = try row("SELECT CAST(body AS BLOB) FROM record WHERE id = ?", [entry.id])
            guard let row else { throw StoreInconsistency() }
            return try row.bytes(0)
        }
        let version = try nextVersion(in: collection)
        try execute(
            "UPDATE record SET version = ?, body = CAST(? AS TEXT) WHERE id = ?", [version, Data(new), entry.id])
        changes.append(
            Change(place: place, key: key, version: version, kind: .update, previousVersion: entry.version))
        return version
    }

    /// - Parameter expected: The version that the record must have; nil: any.
    /// - Returns: The deletion's own version.
    func delete(_ key: ExactText, in place: Place, ifVersion expected: Int64?) throws -> Int64 {
        let collection = try collection(of: place)
        let entry = try existing(key, in: collection, ifVersion: expected)
        let version = try nextVersion(in: collection)
        try execute("DELETE FROM record WHERE id = ?", [entry.id])
        try execute(
            "INSERT INTO deletion (namespace, version, collection, key) VALUES (?, ?, ?, ?)",
            [collection.namespace, version, collection.id, Data(key.utf8)])
        try forgetOldDeletions(of: place.namespace, collection.namespace)
        changes.append(
            Change(place: place, key: key, version: version, kind: .delete, previousVersion: entry.version))
        return version
    }

    private func entry(_ key: ExactText, in collection: Collection) throws -> Entry? {
        try row(
            "SELECT id, version, created FROM record WHERE collection = ? AND key = ?",
            [collection.id, Data(key.utf8)]
        ).map { Entry(id: $0[0], version: $0[1], created: $0[2]) }
    }

    private func existing(_ key: ExactText, in collection: Collection, ifVersion expected: Int64?) throws -> Entry {
        guard let entry = try entry(key, in: collection) else { throw BridgeError.recordNotFound(key) }
        if let expected, expected != entry.version {
            throw BridgeError.recordChanged(key, version: entry.version, expected: expected)
        }
        return entry
    }

    // MARK: Namespaces and their tables

    /// A table's number and its namespace's.
    struct Collection {
        var id: Int64
        var namespace: Int64
    }

    /// The table's number; nil: nothing was ever stored there.
    func findCollection(of place: Place) throws -> Collection? {
        if let known = collections[place] { return known }
        let row = try row(
            """
            SELECT collection.id, collection.namespace FROM namespace
            JOIN collection ON collection.namespace = namespace.id
            WHERE namespace.uid = ? AND namespace.origin = ? AND collection.name = ?
            """,
            [Int64(place.namespace.uid), Data(place.namespace.origin.utf8), Data(place.table.utf8)])
        guard let row else { return nil }
        let found = Collection(id: row[0], namespace: row[1])
        collections[place] = found
        return found
    }

    /// The table's number, given now where it has none.
    private func collection(of place: Place) throws -> Collection {
        if let found = try findCollection(of: place) { return found }
        let namespace: StatementArguments = [Int64(place.namespace.uid), Data(place.namespace.origin.utf8)]
        try execute("INSERT INTO namespace (uid, origin) VALUES (?, ?) ON CONFLICT DO NOTHING", namespace)
        try execute(
            "INSERT INTO collection (namespace, name) SELECT id, ? FROM namespace WHERE uid = ? AND origin = ?",
            [Data(place.table.utf8)] + namespace)
        guard let made = try findCollection(of: place) else { throw StoreInconsistency() }
        return made
    }

    private func nextVersion(in collection: Collection) throws -> Int64 {
        let row = try row(
            "UPDATE namespace SET version = version + 1 WHERE id = ? RETURNING version", [collection.namespace])
        guard let row else { throw StoreInconsistency() }
        return row[0]
    }

    // MARK: Deletions

    /// A key that exists again is told by its record.
    private func forgetDeletion(of key: ExactText, in collection: Collection) throws {
        try execute("DELETE FROM deletion WHERE collection = ? AND key = ?", [collection.id, Data(key.utf8)])
        if database.changesCount > 0 {
            try execute("UPDATE namespace SET deletions = deletions - 1 WHERE id = ?", [collection.namespace])
        }
    }

    /// Counts a deletion just made, and forgets the oldest ones beyond the bound: one by one as they come, more where
    /// the bound was lowered or could not be kept for a while.
    private func forgetOldDeletions(of namespace: Namespace, _ id: Int64) throws {
        let row = try row("UPDATE namespace SET deletions = deletions + 1 WHERE id = ? RETURNING deletions", [id])
        guard let row else { throw StoreInconsistency() }
        let excess = min(row[0] as Int64 - maximumDeletions, Self.deletionsForgottenAtOnce)
        guard excess > 0, mayForget(namespace) else { return }
        let newest: Int64? = try self.row(
            "SELECT version FROM deletion WHERE namespace = ? ORDER BY version LIMIT 1 OFFSET ?", [id, excess - 1])?[0]
        guard let newest else { throw StoreInconsistency() }
        try execute("DELETE FROM deletion WHERE namespace = ? AND version <= ?", [id, newest])
        try execute(
            "UPDATE namespace SET pruned = ?, deletions = deletions - ? WHERE id = ?",
            [newest, Int64(database.changesCount), id])
    }

    /// Bounds what one deletion pays for the sins of a lowered bound.
    private static let deletionsForgottenAtOnce: Int64 = 1000

    // MARK: Statements

    func row(_ sql: String, _ arguments: StatementArguments) throws -> Row? {
        try Row.fetchOne(database.cachedStatement(sql: sql), arguments: arguments)
    }

    func execute(_ sql: String, _ arguments: StatementArguments = []) throws {
        try database.cachedStatement(sql: sql).execute(arguments: arguments)
    }
}

/// The numbers of tables, kept from one visit to the next. Whoever rolls back must empty it: a table may have been made
/// by what is undone.
final class CollectionCache {
    /// Some megabytes at worst; then it begins anew.
    private static let capacity = 4096

    private var collections: [Place: RecordStore.Collection] = [:]

    subscript(place: Place) -> RecordStore.Collection? {
        get { collections[place] }
        set {
            if collections.count >= Self.capacity { collections = [:] }
            collections[place] = newValue
        }
    }

    func removeAll() { collections = [:] }
}

/// The database's tables contradict one another.
struct StoreInconsistency: Error {}

extension Row {
    /// A BLOB, copied.
    func bytes(_ index: Int) throws -> [UInt8] { try withUnsafeData(atIndex: index) { Array($0 ?? Data()) } }
}
