import GRDB

/// The accounting of stored bytes, and the removal of entries beyond the limits.
extension CacheRows {
    /// Returns the bytes and the number of entries of a user, or of all users if `uid` is `nil`.
    func usage(of uid: UInt32?) throws -> (bytes: Int64, count: Int) {
        let condition = uid == nil ? "" : "WHERE uid = ?"
        let statement = try prepared(
            "SELECT coalesce(sum(bytes), 0), coalesce(sum(count), 0) FROM account \(condition)")
        let row = try Row.fetchOne(statement, arguments: uid.map { [Int64($0)] } ?? [])
        return row.map { ($0[0], $0[1]) } ?? (0, 0)
    }

    /// Removes the least recently used entries until each origin, each user and the whole store are within their
    /// limits. For the limit of the whole store, entries of the user with the most bytes are removed first.
    ///
    /// - Parameter id: The entry that was just stored; `nil` if the limits have changed.
    mutating func evict(_ settings: CacheSettings, after id: Int64?) throws {
        if let id {
            try evictOrigin(of: id, settings)
        } else {
            for id in try Int64.fetchAll(
                database,
                sql: "SELECT max(id) FROM entry NATURAL JOIN (SELECT partition, origin FROM usage WHERE bytes > ?) "
                    + "GROUP BY partition, origin", arguments: [settings.originBytes])
            { try evictOrigin(of: id, settings) }
        }
        let tooMuch = try prepared("SELECT uid, bytes FROM account WHERE bytes > ?")
        for row in try Row.fetchAll(tooMuch, arguments: [settings.userBytes]) {
            let uid: Int64 = row[0]
            try evict("uid = ?", [uid], bytes: (row[1] as Int64) - settings.userBytes)
        }
        while case let excess = try usage(of: nil).bytes - settings.bytes, excess > 0 {
            let rows = try Row.fetchAll(database, sql: "SELECT uid, bytes FROM account ORDER BY bytes DESC LIMIT 2")
            guard let first = rows.first else { return }
            // Until the next user has more.
            let lead = rows.count > 1 ? (first[1] as Int64) - (rows[1][1] as Int64) : excess
            try evict("uid = ?", [first[0] as Int64], bytes: max(1, min(excess, lead)))
        }
    }

    private mutating func evictOrigin(of id: Int64, _ settings: CacheSettings) throws {
        let statement = try prepared(
            "SELECT partition, origin, usage.bytes FROM usage NATURAL JOIN "
                + "(SELECT partition, origin FROM entry WHERE id = ?)")
        guard let row = try Row.fetchOne(statement, arguments: [id]) else { return }
        try evict(
            "partition = ? AND origin = ?", [row[0] as Int64, row[1] as String],
            bytes: (row[2] as Int64) - settings.originBytes)
    }

    /// Removes the least recently used entries until `bytes` bytes are freed.
    private mutating func evict(_ condition: String, _ arguments: StatementArguments, bytes: Int64) throws {
        guard bytes > 0 else { return }
        var freed: Int64 = 0
        var ids: [Int64] = []
        let rows = try Row.fetchCursor(
            database, sql: "SELECT id, stored_bytes FROM entry WHERE \(condition) ORDER BY used_at, id",
            arguments: arguments)
        while freed < bytes, let row = try rows.next() {
            ids.append(row[0])
            freed += row[1] as Int64
        }
        for id in ids { try remove(id: id) }
        evicted += ids.count
    }
}
