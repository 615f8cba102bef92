import DurableDatabase
import GRDB
import Synchronization
import TaskKit

extension StoreQueue {
    /// Replaces the open database by another one. Calls that arrive in the meantime wait, and are executed on the new
    /// database. Watchers are notified that their data is out of date.
    ///
    /// Waits for the running work of the lanes, and for the disk. Must not be called on a lane's thread or on the loop
    /// thread.
    ///
    /// - Returns: The path of the replaced database.
    /// - Throws: An error if the database cannot be replaced. Nothing was changed then.
    func replace(with restored: RestorableStore, _ swap: StoreSwap) throws -> String {
        // The database must not be open anywhere else.
        lateCheck.stop()
        // The queries first: their slices are the longest, and commits continue until then.
        return try queries.withLock { queries in
            queries.rest()
            return try reads.withLock { reads in
                reads.rest()
                defer { reads.holdIndex() }
                let keptPath = try commits.withLock { try $0.replace(with: restored, swap) }
                note(nil)
                return keptPath
            }
        }
    }
}

extension ReadEngine {
    /// Closes the connection. It is opened again for the next call.
    mutating func rest() { kept?.close(isLast: false) }
}

extension StoreEngine {
    /// Does the work of `StoreQueue.replace`. This must be the only connection.
    mutating func replace(with restored: RestorableStore, _ swap: StoreSwap) throws(BridgeError) -> String {
        let connection = try usableConnection()
        let prepared = Result {
            let feedEnds = try connection.use { database, _ in try RestorableStore.feedEnds(in: database) }
            try restored.continueHistory(from: feedEnds)
            try connection.retire()
        }
        // In every case: the next use opens the connection again, with its settings.
        kept?.close(isLast: false)
        try prepared.mapError { BridgeError(storage: $0) }.get()
        let keptPath = try swap.carryOut()
        do throws(BridgeError) {
            try expireWatches(try usableConnection())
        } catch {
            kept?.close(isLast: false)
            swap.undo(kept: keptPath)
            throw error
        }
        return keptPath
    }

    private func expireWatches(_ connection: StoreConnection) throws(BridgeError) {
        let expired = connection.use { database, statements in
            let records = RecordReader(database, statements, connection.collections)
            return Result { try watches.tablePaths.map { ($0, try records.feedState(of: $0.namespace).version) } }
        }
        for (tablePath, version) in try expired.mapError({ BridgeError(storage: $0) }).get() {
            watches.expire(tablePath, at: version, sink)
        }
    }
}

extension StoreConnection {
    /// Moves all data into the one database file. The connection is not used afterwards.
    ///
    /// - Throws: `storage.failed` if another process has the database open: it would continue with a file that is no
    ///   longer the database.
    fileprivate func retire() throws {
        let mode = try? use { database, _ in
            try database.execute(sql: "PRAGMA busy_timeout = \(Self.retireTimeoutMilliseconds)")
            return try String.fetchOne(database, sql: "PRAGMA journal_mode = DELETE")
        }
        guard mode == "delete" else {
            throw BridgeError(
                .storageFailed,
                "another process has the database open, so that it cannot be replaced: end it, then restore again",
                isTransient: true)
        }
    }

    /// The maximum time for which calls wait if another process has the database open.
    private static let retireTimeoutMilliseconds = 500
}
