import GRDB
import Glibc

/// The connection to the file of the accounts. After a failure of the storage it is closed, and opened anew before
/// anything else is done with the file: what a failure left behind in it is not trusted.
///
/// Used by one thread at a time.
struct AccountConnection: Sendable {
    private enum State {
        case open(DatabaseQueue)
        /// To be opened anew.
        case failed
        /// For good.
        case closed
    }

    let path: String
    private var state: State

    /// Opens the file, which only its owner may read, and makes it where there is none.
    init(path: String) throws(StorageFailure) {
        try Self.secureFile(path)
        self.path = path
        state = .open(try Self.open(path))
    }

    /// The connection, opened if need be.
    mutating func usable() throws(StorageFailure) -> DatabaseQueue {
        switch state {
        case .open(let queue): return queue
        case .closed: throw StorageFailure("the accounts in \(path) are closed")
        case .failed:
            let queue = try Self.open(path)
            state = .open(queue)
            return queue
        }
    }

    /// Gives the connection up after a failure of the storage.
    mutating func fail() {
        guard case .open(let queue) = state else { return }
        Self.overwriteFailure(queue)
        // Before the other is closed: the last one takes the log's index along, and a full disk has no room for
        // another. So what only reads goes on.
        state = (try? Self.connect(path)).map(State.open) ?? .failed
        try? queue.close()
    }

    /// Ends the use of the file. Every later use throws.
    mutating func close() throws(StorageFailure) {
        guard case .open(let queue) = state else { return state = .closed }
        state = .closed
        try Self.explaining(path) { try queue.close() }
    }

    /// Makes sure that a transaction that failed cannot come back: where only its `fsync` failed, its pages and its
    /// commit mark are in the write-ahead log already, and the next connection would take them for committed. A small
    /// transaction overwrites the start of them, whether its own commit succeeds or not.
    private static func overwriteFailure(_ queue: DatabaseQueue) {
        try? queue.write { database in
            let count = try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            try database.execute(sql: "PRAGMA user_version = \(count &+ 1)")
        }
    }

    /// Does something with the file, with SQLite's errors as sentences.
    static func explaining<T>(_ path: String, _ body: () throws -> T) throws(StorageFailure) -> T {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw StorageFailure(error, path: path)
        } catch let error as StorageFailure {
            throw error
        } catch {
            throw StorageFailure("the accounts in \(path) cannot be used: \(error)")
        }
    }

    private static func open(_ path: String) throws(StorageFailure) -> DatabaseQueue {
        if MappedRoom.isMissing(beside: path) {
            throw StorageFailure("the accounts in \(path) cannot be used: the disk is full", isFull: true)
        }
        return try connect(path)
    }

    private static func connect(_ path: String) throws(StorageFailure) -> DatabaseQueue {
        try explaining(path) { try DatabaseQueue(path: path, configuration: configuration) }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "login"
        // Who backs the file up, or looks into it with `sqlite3`, may hold it for a moment.
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { database in
            // Not by `configuration.journalMode`, with which GRDB lowers `synchronous` after this.
            try database.execute(
                sql: """
                    PRAGMA journal_mode = WAL;
                    PRAGMA synchronous = FULL;
                    PRAGMA secure_delete = ON;
                    """)
        }
        return configuration
    }

    /// Makes the file where there is none, and sees to it that only its owner may use it. SQLite gives the files that
    /// it makes beside it the same mode.
    private static func secureFile(_ path: String) throws(StorageFailure) {
        let file = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if file >= 0 {
            Glibc.close(file)
        } else if errno != EEXIST {
            throw StorageFailure(operation: "cannot create", path: path, errno: errno)
        } else if chmod(path, 0o600) != 0 {
            // Not by a descriptor: closing one would drop the locks of whoever has the file open in this process.
            throw StorageFailure(operation: "cannot make private", path: path, errno: errno)
        }
    }
}
