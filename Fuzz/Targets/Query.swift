import BridgeJSON
@testable import PersistenceTasks
import TaskKit

// Queries, cursors and options of the persistence tasks. The input: records; the first contains the options of a query,
// the second a cursor, the others the records of the table.
//
// - Options are accepted, or refused with `options.invalid`; fast paths return the result of the slow path.
// - Any cursor text is refused, or specifies a position; the cursor written for a position specifies that position.
// - Page by page, each record that meets the conditions is returned once, in order.
func fuzzQuery(_ bytes: [UInt8]) throws(Violation) {
    var input = FuzzInput(bytes)
    let options = input.record()
    let cursor = String(decoding: input.record(), as: UTF8.self)
    var records: [JSON] = []
    while !input.isEmpty, records.count < 24 {
        if let record = try? JSON(parsing: input.record()), record.objectValue != nil { records.append(record) }
    }
    try checkQuickRequests(options)
    try checkMerging(records)
    let path = TablePath(namespace: Namespace(uid: 7, origin: "local"), table: ExactText("t"))
    guard let query = try query(options, in: path) else { return }
    switch Result(catching: { () throws(BridgeError) in try Cursor.parse(cursor, in: path, query.ordering) }) {
    case .success(let position): try checkCursor(position, query)
    case .failure(let error): try checkRefusal(error)
    }
    try checkPages(query, records)
}

// MARK: Options

/// Returns the query of the options; `nil` if they are refused.
private func query(_ options: [UInt8], in path: TablePath) throws(Violation) -> Query? {
    guard let request = try decoded(QueryTask.Request.self, options) else { return nil }
    var query = Query(tablePath: path)
    do throws(BridgeError) {
        if let filter = request.where { query.filter = try Filter(parsing: filter) }
        if let order = request.order { query.ordering = try Ordering(parsing: order) }
        if let name = request.namespace { _ = try Namespace(named: name) }
    } catch {
        try checkRefusal(error)
        return nil
    }
    query.limit = min(max(request.limit ?? 3, 1), 3)
    return query
}

private func decoded<T: Decodable>(_: T.Type, _ options: [UInt8]) throws(Violation) -> T? {
    let result = options.withUnsafeBytes { bytes in
        Result { () throws(JSONMismatch) in try JSONCoding.decode(T.self, from: bytes, unknownKeys: .refuse) }
    }
    switch result {
    case .success(let value): return value
    case .failure(let mismatch):
        try checkRefusal(BridgeError(mismatch))
        return nil
    }
}

private func checkRefusal(_ error: BridgeError) throws(Violation) {
    try require(error.code == .optionsInvalid, "refused with \(error.code): \(error.message)")
    try require(error.data?["path"]?.stringValue?.hasPrefix("$") == true, "refused without a path: \(error.message)")
}

/// Checks the fast paths with JSON, which is the only input of a task.
private func checkQuickRequests(_ options: [UInt8]) throws(Violation) {
    guard (try? JSON(parsing: options)) != nil else { return }
    if let quick = ReadTask.quickRequest(options) {
        let slow = try decoded(ReadTask.Request.self, options)
        try require(
            slow?.table == quick.table && slow?.key == quick.key && slow?.namespace == quick.namespace,
            "a quick read of \(options.shown)")
    }
    guard let quick = CreateTask.quickRequest(options) else { return }
    let slow = try decoded(CreateOperation.self, options)
    try require(slow?.table == quick.table && slow?.key == quick.key, "a quick creation of \(options.shown)")
    try require(slow?.record == quick.record, "a quick record of \(options.shown)")
}

/// RFC 7396: a patch changes nothing the second time.
private func checkMerging(_ records: [JSON]) throws(Violation) {
    guard records.count > 1 else { return }
    guard records[0].objectValue != nil, records[1].objectValue != nil else { return }
    let patch = CompactJSON(records[0])
    let apply = { (text: [UInt8]) in text.withUnsafeBytes { MergePatch.apply(patch, to: $0) } }
    guard let once = apply(records[1].bytes), (try? JSON(parsing: once)) != nil else {
        throw Violation(description: "no record comes of a patch to \(records[1].text)")
    }
    try require(apply(once) == once, "a patch twice: \(String(decoding: once, as: UTF8.self))")
}

// MARK: Cursors

private func checkCursor(_ position: Ordering.Position, _ query: Query) throws(Violation) {
    let text = Cursor.text(position, in: query.tablePath, query.ordering)
    guard let again = try? Cursor.parse(text, in: query.tablePath, query.ordering) else {
        throw Violation(description: "its own cursor is refused: \(text)")
    }
    try require(again == position, "\(position) comes back as \(again)")
    try require(
        !query.ordering.precedes(position, again) && !query.ordering.precedes(again, position), "a place beside itself")
}

private struct StoredRecord {
    var key: [UInt8]
    var json: JSON
    var position: Ordering.Position
}

/// Reads the table page by page as the store does, and compares with the whole table, sorted.
private func checkPages(_ query: Query, _ records: [JSON]) throws(Violation) {
    let table = records.enumerated().map { index, json in
        let key = Array("\((index * 7) % 10)\(index)".utf8)
        return StoredRecord(key: key, json: json, position: query.ordering.position(of: json, key: key))
    }
    for left in table {
        for right in table where left.key != right.key {
            try require(
                query.ordering.precedes(left.position, right.position)
                    != query.ordering.precedes(right.position, left.position),
                "no order between \(left.json.text) and \(right.json.text)")
        }
    }
    let wanted = table.filter { query.filter.matches($0.json) }
        .sorted { query.ordering.precedes($0.position, $1.position) }
    var seen: [[UInt8]] = []
    var after: Ordering.Position?
    while seen.count <= wanted.count {
        var first = FirstPositions(limit: query.limit, ordering: query.ordering, after: after)
        for (index, record) in table.enumerated() where query.filter.matches(record.json) {
            first.insert(record.position, version: Int64(index))
        }
        let page = first.entries.prefix(query.limit)
        seen += page.map(\.position.key)
        guard first.entries.count > query.limit, let end = page.last?.position else { break }
        try checkCursor(end, query)
        after = try? Cursor.parse(
            Cursor.text(end, in: query.tablePath, query.ordering), in: query.tablePath, query.ordering)
    }
    try require(seen == wanted.map(\.key), "the pages show \(seen.map(\.shown)), not \(wanted.map(\.key.shown))")
}
