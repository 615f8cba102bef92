import struct Foundation.Data
import GRDB
import TaskKit

/// One change of one record in the feed.
struct Change: Sendable, Equatable {
    enum Kind: String, Sendable, Codable, CaseIterable {
        case create
        case update
        case delete
    }

    var path: TablePath
    var key: ExactText
    var version: Int64
    var kind: Kind
    /// The version that the record had before; 0 if it did not exist.
    var previousVersion: Int64
}

/// The past changes: those that a watcher has missed since a version of a table.
extension RecordReader {
    /// The range of a namespace's feed.
    struct FeedState: Equatable {
        /// The last assigned version.
        var version: Int64 = 0
        /// The oldest version since which changes can still be sent.
        var oldest: Int64 = 0
    }

    func feedState(of namespace: Namespace) throws -> FeedState {
        try row(
            "SELECT version, pruned FROM namespace WHERE uid = ? AND origin = ?",
            [Int64(namespace.uid), Data(namespace.origin.utf8)]
        ).map { FeedState(version: $0[0], oldest: $0[1]) } ?? FeedState()
    }

    /// A key whose last change is later than a version.
    struct Missed: Equatable {
        var key: ExactText
        var version: Int64
        /// The version of its creation; `nil` if the change is its deletion.
        var created: Int64?
    }

    /// Returns the keys of a table whose last change is later than `version`, in the order of those changes, each once.
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
