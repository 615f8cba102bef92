import TaskKit

/// The scan of a table for a query, slice by slice. It stores the last key that it examined, so that it can continue
/// after it in any transaction.
///
/// Filtering and ordering are done here, on the parsed records, while SQLite steps through the table. SQLite's own JSON
/// functions read large integers as doubles, lose the notation of numbers, and split names that contain quotes or dots.
///
/// Used by one thread at a time.
final class QueryScan {
    private let query: Query
    /// The last key that was examined.
    private var position: [UInt8]
    /// For a query by key: the page so far, and the key of its last record.
    private var page = Page()
    private var lastKey: [UInt8] = []
    /// For a query by fields.
    private var first: FirstPositions

    init(_ query: Query) {
        self.query = query
        // No record has an empty key: every key is greater.
        position = query.ordering.isByKeyAlone ? query.after?.key ?? [] : []
        first = FirstPositions(limit: query.limit, ordering: query.ordering, after: query.after)
    }

    private enum Ending {
        case table
        case page
        case slice
    }

    /// Examines records until the slice is over, at least one.
    ///
    /// - Parameter isOver: Called after each record.
    /// - Returns: The page, as the bytes of the callback's `result`; `nil` if another slice is needed.
    func advance(_ records: RecordReader, until isOver: () -> Bool) throws -> [UInt8]? {
        guard let collection = try records.findCollection(of: query.tablePath) else { return page.finish(cursor: nil) }
        var ending = Ending.table
        try records.forEachRecord(of: collection, after: position) { record in
            guard try take(record) else {
                ending = .page
                return false
            }
            guard isOver() else { return true }
            ending = .slice
            position = Array(record.key)
            return false
        }
        switch ending {
        case .slice: return nil
        case .table where !query.ordering.isByKeyAlone: return try pageOfPositions(records)
        case .table: return page.finish(cursor: nil)
        case .page: return page.finish(cursor: cursor(after: Ordering.Position(values: [], key: lastKey)))
        }
    }

    /// - Returns: Whether the page has room for more records.
    private func take(_ record: StoredRecord) throws -> Bool {
        if query.ordering.isByKeyAlone {
            guard try query.filter.isEmpty || query.filter.matches(record.json()) else { return true }
            let key = Array(record.key)
            guard page.count < query.limit, page.append(key: key, version: record.version, body: record.body) else {
                return false
            }
            lastKey = key
            return true
        }
        let json = try record.json()
        if query.filter.matches(json) {
            let position = query.ordering.position(of: json, key: Array(record.key))
            first.insert(position, version: record.version)
        }
        return true
    }

    /// Returns the page with the records at the found positions. If the query continued in another transaction, a
    /// record may have changed since: its current state is returned, unless it no longer matches.
    private func pageOfPositions(_ records: RecordReader) throws -> [UInt8] {
        for (index, entry) in first.entries.prefix(query.limit).enumerated() {
            let key = entry.position.key
            let isAppended = try records.read(ExactText(utf8: key), in: query.tablePath) { version, body in
                let matches =
                    try version == entry.version || query.filter.isEmpty || query.filter.matches(JSON(parsing: body))
                return !matches || page.append(key: key, version: version, body: body)
            }
            guard isAppended == false else { continue }
            return page.finish(cursor: cursor(after: first.entries[index - 1].position))
        }
        guard first.entries.count > query.limit else { return page.finish(cursor: nil) }
        return page.finish(cursor: cursor(after: first.entries[query.limit - 1].position))
    }

    private func cursor(after position: Ordering.Position) -> String {
        Cursor.text(position, in: query.tablePath, query.ordering)
    }
}

/// The first positions in an order. There is at most one more than a page takes, which shows whether more records
/// exist.
struct FirstPositions {
    struct Entry {
        var position: Ordering.Position
        /// The version of the record that was found there.
        var version: Int64
    }

    private(set) var entries: [Entry] = []
    private let limit: Int
    private let ordering: Ordering
    private let after: Ordering.Position?

    init(limit: Int, ordering: Ordering, after: Ordering.Position?) {
        (self.limit, self.ordering, self.after) = (limit, ordering, after)
    }

    mutating func insert(_ position: Ordering.Position, version: Int64) {
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
        entries.insert(Entry(position: position, version: version), at: low)
    }
}
