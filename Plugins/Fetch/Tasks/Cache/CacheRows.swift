// Foundation only for `Data`, the type that GRDB uses for bytes.
import Foundation
import GRDB
import HTTPRules
import Sodium

/// The rows of the store, within one transaction.
struct CacheRows {
    let database: Database
    /// Files whose entries were removed. They are removed after the transaction is committed.
    private(set) var removedFiles: [String] = []
    /// The number of entries that were removed to make room for others.
    var evicted = 0

    init(_ database: Database) { self.database = database }

    // MARK: Entries

    /// Returns the entries of a URL.
    func entries(at address: CacheAddress) throws -> [CacheEntry] {
        guard let partition = try partition(address.partition) else { return [] }
        let rows = try Row.fetchAll(
            try prepared("SELECT * FROM entry WHERE partition = ? AND key = ?"),
            arguments: [partition, Data(address.key)])
        return rows.compactMap { Self.entry($0) }
    }

    private static func entry(_ row: Row) -> CacheEntry? {
        let headers: Data = row["headers"]
        guard let fields = HeaderList(bytes: headers), let selecting = SelectingFields(text: row["vary"] as String),
            let held = HeldBytes(text: row["held"] as String)
        else { return nil }
        let response = StoredResponse(
            id: row["id"], status: row["status"], fields: fields, selecting: selecting,
            requestedAt: UnixTime(seconds: row["requested_at"]), receivedAt: UnixTime(seconds: row["received_at"]),
            body: held)
        let body: CacheEntry.Body
        if let file: String = row["file"] {
            body = .file(file)
        } else {
            body = .bytes(Array((row["body"] as Data?) ?? Data()))
        }
        return CacheEntry(response: response, reason: row["reason"], version: row["version"], body: body)
    }

    /// Adds an entry and removes the one of the same variant.
    ///
    /// - Returns: The entry with its number.
    mutating func insert(
        _ entry: CacheEntry, at address: CacheAddress, _ url: WebURL, hash: [UInt8]?, now: UnixTime
    ) throws -> CacheEntry {
        // Before the partition is created: removing the last entry of a partition also removes the partition.
        if let partition = try partition(address.partition) {
            try remove(variant: entry.response.selecting, of: partition, Data(address.key), except: 0)
        }
        let partition = try makePartition(address.partition)
        let response = entry.response
        var columns: [(any DatabaseValueConvertible)?] = [partition, Int64(address.partition.uid), Data(address.key)]
        columns += [Self.variant(response.selecting), url.text, url.origin.text, response.selecting.text]
        columns += [response.status, entry.reason, entry.version, Data(response.fields.bytes)]
        columns += [response.requestedAt.seconds, response.receivedAt.seconds, response.freshUntil.seconds]
        columns += [response.body.text, entry.body.bytes, entry.body.file, hash.map { Data($0) }]
        columns += [entry.storedBytes(of: url.text), now.seconds, now.seconds]
        try execute(
            """
            INSERT INTO entry (partition, uid, key, variant, url, origin, vary, status, reason, version, headers,
                requested_at, received_at, fresh_until, held, body, file, body_hash, stored_bytes, stored_at, used_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, StatementArguments(columns))
        var stored = entry
        stored.response.id = database.lastInsertedRowID
        return stored
    }

    /// Changes the fields of an entry, and the ranges of its body that are stored.
    mutating func update(_ response: StoredResponse) throws {
        guard let place = try place(of: response.id) else { return }
        try remove(variant: response.selecting, of: place.partition, place.key, except: response.id)
        let headers = Data(response.fields.bytes)
        try execute(
            """
            UPDATE entry SET variant = ?, vary = ?, headers = ?, requested_at = ?, received_at = ?, fresh_until = ?,
                held = ?, stored_bytes = stored_bytes + ? - length(headers) WHERE id = ?
            """,
            [
                Self.variant(response.selecting), response.selecting.text, headers, response.requestedAt.seconds,
                response.receivedAt.seconds, response.freshUntil.seconds, response.body.text, headers.count,
                response.id,
            ])
    }

    /// Replaces the body of an entry.
    mutating func replaceBody(of entry: CacheEntry, now: UnixTime) throws {
        guard let place = try place(of: entry.response.id) else { return }
        if let file = place.file, file != entry.body.file { removedFiles.append(file) }
        try execute(
            """
            UPDATE entry SET held = ?, body = ?, file = ?, body_hash = NULL, stored_bytes = ?, stored_at = ?
            WHERE id = ?
            """,
            [
                entry.response.body.text, entry.body.bytes, entry.body.file, entry.storedBytes(of: place.url),
                now.seconds, entry.response.id,
            ])
    }

    private func place(of id: Int64) throws -> (partition: Int64, key: Data, url: String, file: String?)? {
        let statement = try prepared("SELECT partition, key, url, file FROM entry WHERE id = ?")
        return try Row.fetchOne(statement, arguments: [id]).map { ($0[0], $0[1], $0[2], $0[3]) }
    }

    // MARK: Removing

    private mutating func remove(
        variant: SelectingFields, of partition: Int64, _ key: Data, except id: Int64
    ) throws {
        try removeAll(
            "partition = ? AND key = ? AND variant = ? AND id <> ?", [partition, key, Self.variant(variant), id])
    }

    /// Removes entries, and records their files in ``removedFiles``.
    ///
    /// - Returns: The number of removed entries, and their bytes.
    @discardableResult
    mutating func removeAll(_ condition: String, _ arguments: StatementArguments) throws -> (count: Int, bytes: Int64) {
        let rows = try Row.fetchAll(
            try prepared("DELETE FROM entry WHERE \(condition) RETURNING file, stored_bytes"),
            arguments: arguments)
        removedFiles += rows.compactMap { $0[0] }
        return (rows.count, rows.reduce(0) { $0 + ($1[1] as Int64) })
    }

    mutating func remove(id: Int64) throws { try removeAll("id = ?", [id]) }

    mutating func remove(at address: CacheAddress) throws {
        guard let partition = try partition(address.partition) else { return }
        try removeAll("partition = ? AND key = ?", [partition, Data(address.key)])
    }

    // MARK: Partitions

    private func partition(_ partition: CachePartition) throws -> Int64? {
        let statement = try prepared("SELECT id FROM partition WHERE uid = ? AND profile = ? AND site = ?")
        return try Int64.fetchOne(
            statement, arguments: [Int64(partition.uid), partition.profile, partition.site])
    }

    private func makePartition(_ partition: CachePartition) throws -> Int64 {
        if let id = try self.partition(partition) { return id }
        try execute(
            "INSERT INTO partition (uid, profile, site) VALUES (?, ?, ?)",
            [Int64(partition.uid), partition.profile, partition.site])
        return database.lastInsertedRowID
    }

    /// Writes the times of the last use of entries.
    func write(used: [Int64: UnixTime]) throws {
        for (id, time) in used {
            try execute("UPDATE entry SET used_at = ? WHERE id = ? AND used_at < ?", [time.seconds, id, time.seconds])
        }
    }

    func execute(_ sql: String, _ arguments: StatementArguments) throws {
        try prepared(sql).execute(arguments: arguments)
    }

    /// Returns a cached statement, because preparing a statement takes longer than running it.
    func prepared(_ sql: String) throws -> Statement { try database.cachedStatement(sql: sql) }

    private static func variant(_ selecting: SelectingFields) -> Data { Data(BLAKE2b.hash(selecting.text.utf8)) }
}

extension CacheEntry.Body {
    /// The bytes as GRDB's type; `nil` if they are in a file.
    fileprivate var bytes: Data? { if case .bytes(let bytes) = self { Data(bytes) } else { nil } }
    /// The name of the file; `nil` if there is none.
    fileprivate var file: String? { if case .file(let name) = self { name } else { nil } }
}
