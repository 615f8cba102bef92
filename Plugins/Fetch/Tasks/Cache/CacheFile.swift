import DurableDatabase
import GRDB
import Glibc

/// The file of the database. One that is damaged, or that a newer version has written, is set aside and created again:
/// it is a cache, and no store of records.
struct CacheFile: Sendable {
    let path: String
    private let database: DurableDatabase

    init(path: String) {
        self.path = path
        // What is lost with the machine's power is fetched again.
        database = DurableDatabase(path: path, label: "fetch-cache", pragmas: "PRAGMA synchronous = NORMAL")
    }

    /// Opens the file, and makes its tables.
    ///
    /// - Parameter onDamage: Called with a sentence for the operator where the file was set aside.
    func open(onDamage: (String) -> Void) throws -> DatabaseQueue {
        do {
            return try openOnce()
        } catch  where Self.isDamage(error) {
            onDamage("the cache in \(path) cannot be read and is begun anew; the old file is \(aside): \(error)")
            setAside()
            return try openOnce()
        }
    }

    /// Whether the file is of no use any more.
    static func isDamage(_ error: any Error) -> Bool {
        switch error {
        case DurableDatabase.Refusal.newer: true
        case let error as DatabaseError:
            [.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT, .SQLITE_SCHEMA].contains(error.resultCode)
        default: false
        }
    }

    private var aside: String { path + ".damaged" }

    private func openOnce() throws -> DatabaseQueue {
        let isNew = access(path, F_OK) != 0
        let queue = try database.open()
        do {
            if isNew {
                // Only an empty file takes it on.
                try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL; VACUUM") }
            }
            try database.migrate(queue, by: CacheSchema.migrator)
        } catch {
            try? queue.close()
            throw error
        }
        return queue
    }

    private func setAside() {
        rename(path, aside)
        for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
    }
}
