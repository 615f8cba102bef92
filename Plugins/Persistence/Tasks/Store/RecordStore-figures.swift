import GRDB

// What a transaction counts.
extension RecordStore {
    /// What a transaction has done, in numbers.
    struct Tally: Equatable {
        /// Records that were created, updated or deleted.
        var changes = 0
        /// By how many there are more than before.
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

    /// How many records the database holds: as long as an index is, which has just been checked.
    static func countRecords(_ database: Database) throws -> Int {
        try Int.fetchOne(database, sql: "SELECT count(*) FROM record") ?? 0
    }

    /// A namespace's row, as it is to be at the commit.
    final class Counters {
        let namespace: Int64
        /// The last version given out.
        var version: Int64
        /// The newest version whose deletion is forgotten.
        var pruned: Int64
        /// How many deletions are remembered.
        var deletions: Int64
        /// How many records there are, and how long they are with their keys.
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
