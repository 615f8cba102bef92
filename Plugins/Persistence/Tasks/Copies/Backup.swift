import GRDB
import TaskKit

/// A copy of the whole database at one moment. Lane of copies.
enum Backup {
    /// Creates and checks a copy: a snapshot of the committed data. No commit and no read waits for it.
    ///
    /// The copy is written anew, not page by page: it has minimal size, contains no deleted data, and is complete
    /// without a log.
    ///
    /// - Parameter path: An empty file.
    /// - Returns: The number of records in it.
    static func make(of store: StoreFile, at path: String, _ interruption: Interruption) throws -> Int64 {
        let source = try store.openSource()
        defer { try? source.close() }
        try interruption.during(source) { try $0.execute(sql: "VACUUM INTO ?", arguments: [path]) }
        let copy = try StoreFile(path: path).openSource()
        defer { try? copy.close() }
        return try interruption.during(copy) { database in
            let finding = try String.fetchOne(database, sql: "PRAGMA integrity_check(1)") ?? "nothing"
            guard finding == "ok" else {
                throw BridgeError(.storageFailed, "the copy is damaged, and so may be the database")
            }
            try interruption.check()
            return try Int64.fetchOne(database, sql: "SELECT count(*) FROM record") ?? 0
        }
    }
}
