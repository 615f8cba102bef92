import TaskKit

/// Finds records.
struct QueryTask: StoreTask {
    static let name = "persistence.query"
    static let summary = "Returns the records of a table that meet conditions, in an order, a page at a time."
    static let lane = StoreLane.queries
    static let optionBytes: Int? = Limits.queryOptionBytes
    struct Request: Codable, Sendable {
        var table: ExactText
        var `where`: JSON?
        var order: JSON?
        var limit: Int?
        var cursor: String?
        var namespace: String?
    }
    let store: StoreQueue

    func perform(_ request: Request, _ caller: Caller, _ visit: StoreVisit) throws -> StoreWork {
        .scan(QueryScan(try query(request, caller)))
    }

    private func query(_ request: Request, _ caller: Caller) throws -> Query {
        let namespace = try caller.namespace(named: request.namespace)
        var query = Query(tablePath: try TablePath(namespace: namespace, checking: request.table, at: "$"))
        if let filter = request.where { query.filter = try Filter(parsing: filter) }
        if let order = request.order { query.ordering = try Ordering(parsing: order) }
        if let limit = request.limit {
            guard (1...Limits.maximumPageRecords).contains(limit) else {
                throw BridgeError.unfit(
                    "$.limit", expected: "integer from 1 to \(Limits.maximumPageRecords)", got: "number \(limit)")
            }
            query.limit = limit
        }
        query.after = try request.cursor.map { try Cursor.parse($0, in: query.tablePath, query.ordering) }
        return query
    }
}
