import struct Foundation.Data
import GRDB
import TaskKit

/// Changes the records in an open database for the calls of one transaction, with SQL.
///
/// It exists as long as the transaction, on the lane's thread. Bodies are JSON texts that the caller has checked. A
/// change that throws a `BridgeError` has changed nothing; any other error is a failure of the storage, after which the
/// transaction cannot be committed.
final class RecordStore: RecordReader {
    /// The changes so far, in the order of the versions; empty if there are no watches.
    private(set) var changes: [Change] = []
    private let isWatched: Bool
    /// The numbers of the changes so far.
    private(set) var tally = Tally()
    /// Bytes of records that the current call has read to change them, and written.
    private var touchedBytes: Int64 = 0
    /// The number of removed deletions beyond one for each new deletion.
    private var forgottenDeletions: Int64 = 0
    /// The counters of the accessed namespaces: read once, written once.
    private var counters: [Counters] = []
    /// The maximum number of stored deletions of a namespace.
    private let maximumDeletions: Int64
    /// The quota of a namespace.
    private let quota: StoreQuota
    /// Whether deletions of a namespace may be removed now.
    private let mayForget: (Namespace) -> Bool

    init(
        _ database: Database, _ statements: StatementCache, _ collections: CollectionCache, maximumDeletions: Int64,
        quota: StoreQuota, isWatched: Bool, mayForget: @escaping (Namespace) -> Bool
    ) {
        self.maximumDeletions = maximumDeletions
        self.quota = quota
        self.isWatched = isWatched
        self.mayForget = mayForget
        super.init(database, statements, collections)
    }

    // MARK: The transaction

    /// Begins the next call.
    func beginCall() { touchedBytes = 0 }

    /// Counts bytes of a record that are read to change it, or written.
    ///
    /// - Throws: `transaction.too_large`.
    private func touch(_ bytes: Int64) throws(BridgeError) {
        touchedBytes += bytes
        if touchedBytes > Int64(Limits.touchedBytes) { throw .transactionTooLarge }
    }

    /// Executes several changes: all of them, or none if one throws a `BridgeError`.
    func inSavepoint<T>(_ body: () throws -> T) throws -> T {
        let (changesBefore, countersBefore, tallyBefore) = (changes.count, counters.map { $0.copy() }, tally)
        try statement("SAVEPOINT operations").run()
        do {
            let result = try body()
            try statement("RELEASE operations").run()
            return result
        } catch let error as BridgeError {
            try statement("ROLLBACK TO operations").run()
            try statement("RELEASE operations").run()
            changes.removeSubrange(changesBefore...)
            counters = countersBefore
            tally = tallyBefore
            collections.removeAll()
            throw error
        }
    }

    /// Writes the counters. Must be called before the commit.
    func finish() throws {
        let update = try statement(
            "UPDATE namespace SET version = ?, pruned = ?, deletions = ?, records = ?, bytes = ? WHERE id = ?")
        for counters in counters where counters.isChanged {
            update.bind(counters.version, at: 1)
            update.bind(counters.pruned, at: 2)
            update.bind(counters.deletions, at: 3)
            update.bind(counters.records, at: 4)
            update.bind(counters.bytes, at: 5)
            update.bind(counters.namespace, at: 6)
            guard try update.run() == 1 else { throw StoreInconsistency() }
        }
        counters = []
    }

    // MARK: One record

    func create(_ key: ExactText, _ body: some RecordText, in path: TablePath) throws -> Int64 {
        let collection = try collection(of: path)
        let counters = try counters(of: collection)
        let addedBytes = Int64(key.utf8.count + body.withUnsafeBytes(\.count))
        do throws(BridgeError) {
            try quota.check(counters, addedRecords: 1, addedBytes: addedBytes, in: path.namespace)
        } catch {
            // If the record exists already, that is the more helpful error.
            guard let existing = try entry(key, in: collection) else { throw error }
            throw BridgeError.recordExists(key, version: existing.version)
        }
        try touch(addedBytes)
        guard try insert(key, body, counters.version + 1, in: collection) else {
            guard let existing = try entry(key, in: collection) else { throw StoreInconsistency() }
            throw BridgeError.recordExists(key, version: existing.version)
        }
        counters.add(records: 1, bytes: addedBytes)
        if counters.deletions > 0 { try forgetDeletion(of: key, in: collection, counters) }
        return note(.create, key, in: path, previousVersion: 0, counters)
    }

    /// - Returns: Whether the key was free and the record was inserted.
    private func insert(
        _ key: ExactText, _ body: some RecordText, _ version: Int64, in collection: Collection
    ) throws -> Bool {
        let insert = try statement(
            """
            INSERT INTO record (collection, key, version, created, body) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (collection, key) DO NOTHING
            """)
        return try key.utf8.withUnsafeBytes { key in
            try body.withUnsafeBytes { body in
                insert.bind(collection.id, at: 1)
                insert.bind(blob: key, at: 2)
                insert.bind(version, at: 3)
                insert.bind(version, at: 4)
                insert.bind(text: body, at: 5)
                return try insert.run() == 1
            }
        }
    }

    /// - Parameters:
    ///   - expected: The version that the record must have; `nil` for any.
    ///   - body: Returns the new body; its argument reads the old one.
    func update<Text: RecordText>(
        _ key: ExactText, in path: TablePath, ifVersion expected: Int64?,
        _ body: (_ old: () throws -> [UInt8]) throws -> Text
    ) throws -> Int64 {
        let (collection, entry) = try existing(key, in: path, ifVersion: expected)
        let new = try body {
            guard let old = try read(key, in: path, { Array($1) }) else { throw StoreInconsistency() }
            return old
        }
        let counters = try counters(of: collection)
        let newBytes = Int64(new.withUnsafeBytes(\.count))
        try touch(newBytes)
        let addedBytes = newBytes - entry.bodyBytes
        try quota.check(counters, addedRecords: 0, addedBytes: addedBytes, in: path.namespace)
        let update = try statement("UPDATE record SET version = ?, body = ? WHERE id = ?")
        try new.withUnsafeBytes { new in
            update.bind(counters.version + 1, at: 1)
            update.bind(text: new, at: 2)
            update.bind(entry.id, at: 3)
            try update.run()
        }
        counters.add(records: 0, bytes: addedBytes)
        return note(.update, key, in: path, previousVersion: entry.version, counters)
    }

    /// - Parameter expected: The version that the record must have; `nil` for any.
    /// - Returns: The version of the deletion.
    func delete(_ key: ExactText, in path: TablePath, ifVersion expected: Int64?) throws -> Int64 {
        let (collection, entry) = try existing(key, in: path, ifVersion: expected)
        let counters = try counters(of: collection)
        let delete = try statement("DELETE FROM record WHERE id = ?")
        delete.bind(entry.id, at: 1)
        try delete.run()
        counters.add(records: -1, bytes: -entry.bodyBytes - Int64(key.utf8.count))
        try remember(deletionOf: key, in: collection, counters)
        try forgetOldDeletions(of: path.namespace, counters)
        return note(.delete, key, in: path, previousVersion: entry.version, counters)
    }

    /// The properties of a record without its body.
    private struct Entry {
        var id: Int64
        var version: Int64
        var bodyBytes: Int64
    }

    private func entry(_ key: ExactText, in collection: Collection) throws -> Entry? {
        let select = try statement(
            "SELECT id, version, length(CAST(body AS BLOB)) FROM record WHERE collection = ? AND key = ?")
        return try key.utf8.withUnsafeBytes { key in
            select.bind(collection.id, at: 1)
            select.bind(blob: key, at: 2)
            guard try select.step() else { return nil }
            defer { select.reset() }
            let entry = Entry(id: select.int64(0), version: select.int64(1), bodyBytes: select.int64(2))
            // SQLite has read the whole body to compute its length.
            try touch(entry.bodyBytes)
            return entry
        }
    }

    private func existing(
        _ key: ExactText, in path: TablePath, ifVersion expected: Int64?
    ) throws -> (Collection, Entry) {
        guard let collection = try findCollection(of: path), let entry = try entry(key, in: collection) else {
            throw BridgeError.recordNotFound(key)
        }
        if let expected, expected != entry.version {
            throw BridgeError.recordChanged(key, version: entry.version, expected: expected)
        }
        return (collection, entry)
    }

    /// Returns the table's row id; creates the table if it does not exist.
    private func collection(of path: TablePath) throws -> Collection {
        if let found = try findCollection(of: path) { return found }
        let namespace: StatementArguments = [Int64(path.namespace.uid), Data(path.namespace.origin.utf8)]
        try execute("INSERT INTO namespace (uid, origin) VALUES (?, ?) ON CONFLICT DO NOTHING", namespace)
        try execute(
            "INSERT INTO collection (namespace, name) SELECT id, ? FROM namespace WHERE uid = ? AND origin = ?",
            [Data(path.table.utf8)] + namespace)
        guard let made = try findCollection(of: path) else { throw StoreInconsistency() }
        return made
    }

    private func execute(_ sql: String, _ arguments: StatementArguments) throws {
        try database.cachedStatement(sql: sql).execute(arguments: arguments)
    }

    // MARK: Counters

    private func counters(of collection: Collection) throws -> Counters {
        // A transaction rarely has more than one namespace.
        if let known = counters.first(where: { $0.namespace == collection.namespace }) { return known }
        let select = try statement(
            "SELECT version, pruned, deletions, records, bytes FROM namespace WHERE id = ?")
        select.bind(collection.namespace, at: 1)
        guard try select.step() else { throw StoreInconsistency() }
        defer { select.reset() }
        let found = Counters(
            namespace: collection.namespace, version: select.int64(0), pruned: select.int64(1),
            deletions: select.int64(2), records: select.int64(3), bytes: select.int64(4))
        counters.append(found)
        return found
    }

    /// Records a change, which was written with the next version, and returns that version.
    private func note(
        _ kind: Change.Kind, _ key: ExactText, in path: TablePath, previousVersion: Int64, _ counters: Counters
    ) -> Int64 {
        counters.version += 1
        counters.isChanged = true
        tally.note(kind)
        if isWatched {
            changes.append(
                Change(
                    path: path, key: key, version: counters.version, kind: kind, previousVersion: previousVersion))
        }
        return counters.version
    }

    // MARK: Deletions

    private func remember(deletionOf key: ExactText, in collection: Collection, _ counters: Counters) throws {
        let insert = try statement("INSERT INTO deletion (namespace, version, collection, key) VALUES (?, ?, ?, ?)")
        try key.utf8.withUnsafeBytes { key in
            insert.bind(collection.namespace, at: 1)
            insert.bind(counters.version + 1, at: 2)
            insert.bind(collection.id, at: 3)
            insert.bind(blob: key, at: 4)
            try insert.run()
        }
        counters.deletions += 1
    }

    /// Removes the deletion of a key that exists again: its record represents it in the feed.
    private func forgetDeletion(of key: ExactText, in collection: Collection, _ counters: Counters) throws {
        let delete = try statement("DELETE FROM deletion WHERE collection = ? AND key = ?")
        try key.utf8.withUnsafeBytes { key in
            delete.bind(collection.id, at: 1)
            delete.bind(blob: key, at: 2)
            counters.deletions -= Int64(try delete.run())
        }
    }

    /// Removes the oldest deletions beyond the limit: usually one for each new deletion; more if the limit was lowered
    /// or removals were not allowed for a while.
    private func forgetOldDeletions(of namespace: Namespace, _ counters: Counters) throws {
        let maximum = max(1, Self.deletionsForgottenAtOnce - forgottenDeletions)
        let excess = min(counters.deletions - maximumDeletions, maximum)
        guard excess > 0, mayForget(namespace) else { return }
        forgottenDeletions += excess - 1
        let newest: Int64? = try row(
            "SELECT version FROM deletion WHERE namespace = ? ORDER BY version LIMIT 1 OFFSET ?",
            [counters.namespace, excess - 1])?[0]
        guard let newest else { throw StoreInconsistency() }
        let delete = try statement("DELETE FROM deletion WHERE namespace = ? AND version <= ?")
        delete.bind(counters.namespace, at: 1)
        delete.bind(newest, at: 2)
        counters.deletions -= Int64(try delete.run())
        counters.pruned = newest
    }

    /// Limits the work of one transaction after the limit of deletions was lowered.
    private static let deletionsForgottenAtOnce: Int64 = 1000
}
