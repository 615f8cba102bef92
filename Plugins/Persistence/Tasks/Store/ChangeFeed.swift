import struct Foundation.Data
import GRDB
import TaskKit

/// The changes of the past: what a watcher who knows a table as of some version has missed.
extension RecordReader {
    /// How far a namespace's feed reaches.
    struct FeedState: Equatable {
        /// The last version given out.
        var version: Int64 = 0
        /// Changes can be sent to those who know the namespace as of this version or a later one.
        var oldest: Int64 = 0
    }

    func feedState(of namespace: Namespace) throws -> FeedState {
        try row(
            "SELECT version, pruned FROM namespace WHERE uid = ? AND origin = ?",
            [Int64(namespace.uid), Data(namespace.origin.utf8)]
        ).map { FeedState(version: $0[0], oldest: $0[1]) } ?? FeedState()
    }

    /// A key whose last change came after some version.
    struct Missed: Equatable {
        var key: ExactText
        var version: Int64
        /// The version of its creation; nil: the change is its deletion.
        var created: Int64?
    }

    /// The keys of a table whose last change came after `version`, in the order of those changes, each once.
    func missed(after version: Int64, in path: TablePath, limit: Int) throws -> [Missed] {
        guard let collection = try findCollection(of: path) else { return [] }
        let statement = try database.cachedStatement(
            sql: """
                SELECT version, created, key FROM record WHERE collection = ? AND version > ?
                UNION ALL
                SELECT version, NULL, key FROM deletion WHERE collection = ? AND version > ?
                ORDER BY 1 LIMIT ?
                """)
        let rows = try Row.fetchCursor(
            statement, arguments: [collection.id, version, collection.id, version, limit])
        var missed: [Missed] = []
        while let row = try rows.next() {
            missed.append(Missed(key: ExactText(utf8: try row.bytes(2)), version: row[0], created: row[1]))
        }
        return missed
    }
}
