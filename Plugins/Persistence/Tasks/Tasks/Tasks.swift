import TaskKit

/// Makes a record.
struct CreateTask: StoreTask {
    static let name = "persistence.create"
    static let summary = "Stores a new record in a table and answers its key and version."
    static let effect = BatchPlanner.Effect.write
    typealias Request = CreateOperation
    let lane: CommitLane

    func perform(_ request: Request, _ caller: Caller, _ access: StoreAccess) throws -> [UInt8] {
        try request.perform(in: caller.namespace(named: request.namespace), at: "$", access).bytes
    }
}

/// Shows a record.
struct ReadTask: StoreTask {
    static let name = "persistence.read"
    static let summary = "Answers the record of a key."
    static let effect = BatchPlanner.Effect.read
    struct Request: Codable, Sendable {
        var table: String
        var key: String
        var namespace: String?
    }
    let lane: CommitLane

    func perform(_ request: Request, _ caller: Caller, _ access: StoreAccess) throws -> [UInt8] {
        let namespace = try caller.namespace(named: request.namespace)
        let place = try Place(namespace: namespace, checking: request.table, at: "$")
        let key = try ExactText(checkingKey: request.key, at: "$")
        guard let (version, body) = try access.records.read(key, in: place) else {
            throw BridgeError.recordNotFound(key)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(body.count + key.utf8.count + 64)
        bytes.append(record: body, key: key.utf8, version: version)
        return bytes
    }
}

/// Changes a record.
struct UpdateTask: StoreTask {
    static let name = "persistence.update"
    static let summary = "Replaces a record, or changes it by a merge patch (RFC 7396)."
    static let effect = BatchPlanner.Effect.write
    typealias Request = UpdateOperation
    let lane: CommitLane

    func perform(_ request: Request, _ caller: Caller, _ access: StoreAccess) throws -> [UInt8] {
        try request.perform(in: caller.namespace(named: request.namespace), at: "$", access).bytes
    }
}

/// Removes a record.
struct DeleteTask: StoreTask {
    static let name = "persistence.delete"
    static let summary = "Removes a record."
    static let effect = BatchPlanner.Effect.write
    typealias Request = DeleteOperation
    let lane: CommitLane

    func perform(_ request: Request, _ caller: Caller, _ access: StoreAccess) throws -> [UInt8] {
        try request.perform(in: caller.namespace(named: request.namespace), at: "$", access).bytes
    }
}

/// Finds records.
struct QueryTask: StoreTask {
    static let name = "persistence.query"
    static let summary = "Answers the records of a table that meet conditions, in an order, a page at a time."
    static let effect = BatchPlanner.Effect.read
    struct Request: Codable, Sendable {
        var table: String
        var `where`: JSON?
        var order: JSON?
        var limit: Int?
        var cursor: String?
        var namespace: String?
    }
    let lane: CommitLane

    func perform(_ request: Request, _ caller: Caller, _ access: StoreAccess) throws -> [UInt8] {
        let namespace = try caller.namespace(named: request.namespace)
        var query = Query(place: try Place(namespace: namespace, checking: request.table, at: "$"))
        if let filter = request.where { query.filter = try Filter(parsing: filter) }
        if let order = request.order { query.ordering = try Ordering(parsing: order) }
        if let limit = request.limit {
            guard (1...Limits.maximumPageRecords).contains(limit) else {
                throw BridgeError.unfit(
                    "$.limit", expected: "integer from 1 to \(Limits.maximumPageRecords)", got: "number \(limit)")
            }
            query.limit = limit
        }
        query.after = try request.cursor.map { try Cursor.parse($0, in: query.place, query.ordering) }
        return try access.records.page(of: query, isCancelled: access.isCancelled)
    }
}
