import DurableDatabase
import GRDB
import Synchronization
import TaskKit

extension Store {
    /// Puts another database in the place of the one that is open. Calls that come meanwhile wait, and are carried out
    /// on the new one; those that watch are notified that what they know is out of date.
    ///
    /// Waits for what the lanes are at, and for the disk: not to be called on a lane's thread, nor on the loop's.
    ///
    /// - Returns: Where the database lies that was replaced.
    /// - Throws: Where it throws, nothing was changed.
    func replace(with restored: RestorableStore, _ swap: StoreSwap) throws -> String {
        // The database must not be open anywhere else.
        lateCheck.stop()
        // The queries first: a slice of theirs is the longest, and commits go on until then.
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
    /// As `Store.replace`, where this is the only connection.
    mutating func replace(with restored: RestorableStore, _ swap: StoreSwap) throws(BridgeError) -> String {
        let connection = try usableConnection()
        let prepared = Result {
            let feedEnds = try connection.use { database, _ in try RestorableStore.feedEnds(in: database) }
            try restored.continueHistory(from: feedEnds)
            try connection.retire()
        }
        // Whatever became of it: the next one to use it opens it again, with its settings.
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
    /// Moves everything into the one file, for good.
    ///
    /// - Throws: `storage.failed` where another process has the database open: it would go on with a file that is no
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

    /// Calls wait for so long at most where another process has the database open.
    private static let retireTimeoutMilliseconds = 500
}
