import GRDB
import TaskKit

/// A copy of the whole database, as of one moment. The lane of copies.
enum Backup {
    /// Makes and checks it: a snapshot of what is committed, for which no commit and no read waits.
    ///
    /// The copy is written again, not page by page: it is as small as can be, holds nothing of what was deleted, and is
    /// complete without a log beside it.
    ///
    /// - Parameter path: An empty file.
    /// - Returns: How many records it has.
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
