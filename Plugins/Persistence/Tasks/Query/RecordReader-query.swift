import struct Foundation.Data
import GRDB
import TaskKit

/// Queries. Filtering and ordering happen here, on the parsed records, while SQLite steps through a table: SQLite's own
/// JSON functions read large integers as doubles, lose number texts, and take names apart that bear quotes or dots.
extension RecordReader {
    /// How many records are looked at between two looks at whether anybody still waits for the answer.
    private static let recordsBetweenChecks = 256

    /// One page, as the bytes of the callback's `result`.
    func page(of query: Query, isCancelled: () -> Bool) throws -> [UInt8] {
        guard let collection = try findCollection(of: query.place) else { return Page().finish(cursor: nil) }
        return query.ordering.isByKeyAlone
            ? try pageByKey(query, collection, isCancelled)
            : try pageByFields(query, collection, isCancelled)
    }

    /// In the order of the index, so that a page touches no more than its records and those between them.
    private func pageByKey(_ query: Query, _ collection: Collection, _ isCancelled: () -> Bool) throws -> [UInt8] {
        var page = Page()
        var lastKey: [UInt8] = []
        var isComplete = true
        try forEachRecord(of: collection, after: query.after?.key, isCancelled) { row in
            try row.withUnsafeData(atIndex: 2) { body in
                let body = body ?? Data()
                guard try query.filter.isEmpty || query.filter.matches(Self.parse(body)) else { return true }
                let key = try row.bytes(0)
                guard page.count < query.limit, page.append(key: key, version: row[1], body: body) else {
                    isComplete = false
                    return false
                }
                lastKey = key
                return true
            }
        }
        let end = Ordering.Position(values: [], key: lastKey)
        return page.finish(cursor: isComplete ? nil : Cursor.text(end, in: query.place, query.ordering))
    }

    /// Looks at every record of the table and keeps the places of those that come first behind the cursor.
    private func pageByFields(_ query: Query, _ collection: Collection, _ isCancelled: () -> Bool) throws -> [UInt8] {
        var first = FirstPlaces(limit: query.limit, ordering: query.ordering, after: query.after)
        try forEachRecord(of: collection, after: nil, isCancelled) { row in
            try row.withUnsafeData(atIndex: 2) { body in
                let record = try Self.parse(body ?? Data())
                guard query.filter.matches(record) else { return true }
                first.insert(query.ordering.position(of: record, key: try row.bytes(0)), id: row[3])
                return true
            }
        }
        return try page(of: first, query)
    }

    private func page(of first: FirstPlaces, _ query: Query) throws -> [UInt8] {
        var page = Page()
        for (index, entry) in first.entries.prefix(query.limit).enumerated() {
            let row = try row("SELECT version, CAST(body AS BLOB) FROM record WHERE id = ?", [entry.id])
            guard let row else { throw StoreInconsistency() }
            let isAppended = page.append(key: entry.position.key, version: row[0], body: try row.bytes(1))
            guard !isAppended else { continue }
            let end = first.entries[index - 1].position
            return page.finish(cursor: Cursor.text(end, in: query.place, query.ordering))
        }
        guard first.entries.count > query.limit else { return page.finish(cursor: nil) }
        let end = first.entries[query.limit - 1].position
        return page.finish(cursor: Cursor.text(end, in: query.place, query.ordering))
    }

    /// Steps through a table in the order of its keys.
    ///
    /// - Parameter body: Gets key, version, body and id; returns whether to go on.
    private func forEachRecord(
        of collection: Collection, after key: [UInt8]?, _ isCancelled: () -> Bool, _ body: (Row) throws -> Bool
    ) throws {
        let statement = try database.cachedStatement(
            sql: """
                SELECT key, version, CAST(body AS BLOB), id FROM record
                WHERE collection = ? AND key > ? ORDER BY key
                """)
        // No record has an empty key: each is greater.
        let rows = try Row.fetchCursor(statement, arguments: [collection.id, Data(key ?? [])])
        var count = 0
        while let row = try rows.next() {
            count += 1
            if count % Self.recordsBetweenChecks == 0, isCancelled() { throw BridgeError.cancelled }
            if try !body(row) { return }
        }
    }

    private static func parse(_ body: Data) throws -> JSON {
        try body.withUnsafeBytes { try JSON(parsing: $0) }
    }
}

/// The places that come first in an order, at most one more than a page takes, so that it is known whether there are
/// more.
struct FirstPlaces {
    struct Entry {
        var position: Ordering.Position
        var id: Int64
    }

    private(set) var entries: [Entry] = []
    private let limit: Int
    private let ordering: Ordering
    private let after: Ordering.Position?

    init(limit: Int, ordering: Ordering, after: Ordering.Position?) {
        (self.limit, self.ordering, self.after) = (limit, ordering, after)
    }

    mutating func insert(_ position: Ordering.Position, id: Int64) {
        if let after, !ordering.precedes(after, position) { return }
        if entries.count > limit, let last = entries.last {
            guard ordering.precedes(position, last.position) else { return }
            entries.removeLast()
        }
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if ordering.precedes(entries[middle].position, position) { low = middle + 1 } else { high = middle }
        }
        entries.insert(Entry(position: position, id: id), at: low)
    }
}
