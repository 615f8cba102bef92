import GRDB

// The counters of a transaction.
extension RecordStore {
    /// The numbers of changes in a transaction.
    struct Tally: Equatable {
        /// Records that were created, updated or deleted.
        var changes = 0
        /// The increase in the number of records; negative for a decrease.
        var growth = 0

        mutating func note(_ kind: Change.Kind) {
            changes += 1
            switch kind {
            case .create: growth += 1
            case .delete: growth -= 1
            case .update: break
            }
        }
    }

    /// Returns the number of records in the database. Scans an index, which has just been checked.
    static func countRecords(_ database: Database) throws -> Int {
        try Int.fetchOne(database, sql: "SELECT count(*) FROM record") ?? 0
    }

    /// The values that a namespace's row will have at the commit.
    final class Counters {
        let namespace: Int64
        /// The last assigned version.
        var version: Int64
        /// The newest version whose deletion was removed from the feed.
        var pruned: Int64
        /// The number of stored deletions.
        var deletions: Int64
        /// The number of records, and their length in bytes including their keys.
        private(set) var records: Int64
        private(set) var bytes: Int64
        var isChanged = false

        init(namespace: Int64, version: Int64, pruned: Int64, deletions: Int64, records: Int64, bytes: Int64) {
            (self.namespace, self.version, self.pruned, self.deletions) = (namespace, version, pruned, deletions)
            (self.records, self.bytes) = (records, bytes)
        }

        func add(records: Int64, bytes: Int64) {
            self.records += records
            self.bytes += bytes
        }

        func copy() -> Counters {
            let copy = Counters(
                namespace: namespace, version: version, pruned: pruned, deletions: deletions, records: records,
                bytes: bytes)
            copy.isChanged = isChanged
            return copy
        }
    }
}
