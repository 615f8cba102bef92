import DurableDatabase
import GRDB
import Glibc

/// The file of the database. A file that is damaged or was written by a newer version is renamed, and a new one is
/// created: a cache can be filled again.
struct CacheFile: Sendable {
    let path: String
    private let database: DurableDatabase

    init(path: String) {
        self.path = path
        // Data that is lost with the machine's power is fetched again.
        database = DurableDatabase(path: path, label: "fetch-cache", pragmas: "PRAGMA synchronous = NORMAL")
    }

    /// Opens the file, and creates its tables.
    ///
    /// - Parameter onDamage: Called with a message for the operator if the file was renamed.
    func open(onDamage: (String) -> Void) throws -> DatabaseQueue {
        do {
            return try openOnce()
        } catch  where Self.isDamage(error) {
            onDamage(
                "the cache in \(path) cannot be read and is replaced by a new one; the old file is \(aside): \(error)")
            setAside()
            return try openOnce()
        }
    }

    /// Returns whether an error means that the file is unusable.
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
                // This setting takes effect only in an empty file.
                try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL; VACUUM") }
            }
            try database.migrate(queue, by: CacheSchema.migrator)
            if isNew { try queue.write(Self.begin) }
        } catch {
            try? queue.close()
            throw error
        }
        return queue
    }

    /// Lets the numbers of entries begin at a random one. A file that replaces another one while requests are running
    /// then has none of the old numbers, which these requests still use.
    private static func begin(_ database: Database) throws {
        try database.execute(
            sql: "INSERT INTO sqlite_sequence (name, seq) VALUES ('entry', ?)",
            arguments: [Int64.random(in: 0..<(1 << 50))])
    }

    private func setAside() {
        rename(path, aside)
        for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
    }
}
