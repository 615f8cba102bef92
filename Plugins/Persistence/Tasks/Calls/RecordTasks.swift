import TaskKit

/// Creates a record.
struct CreateTask: WriteTask {
    static let name = "persistence.create"
    static let summary = "Stores a new record in a table and returns its key and version."
    typealias Request = CreateOperation
    let store: StoreQueue
}

/// Returns a record.
struct ReadTask: StoreTask {
    static let name = "persistence.read"
    static let summary = "Returns the record of a key."
    static let lane = StoreLane.reads
    static let optionBytes: Int? = nil
    struct Request: Codable, Sendable {
        var table: ExactText
        var key: ExactText
        var namespace: String?
    }
    let store: StoreQueue

    func perform(_ request: Request, _ caller: Caller, _ visit: StoreVisit) throws -> StoreWork {
        let namespace = try caller.namespace(named: request.namespace)
        let path = try TablePath(namespace: namespace, checking: request.table, at: "$")
        let key = try request.key.checkedAsKey(at: "$")
        let result = try visit.records.read(key, in: path) { version, record in
            var bytes: [UInt8] = []
            bytes.reserveCapacity(record.count + key.utf8.count + 64)
            bytes.append(record: record, key: key.utf8, version: version)
            return bytes
        }
        guard let result else { throw BridgeError.recordNotFound(key) }
        return .result(result)
    }
}

/// Changes a record.
struct UpdateTask: WriteTask {
    static let name = "persistence.update"
    static let summary = "Replaces a record, or changes it by a merge patch (RFC 7396)."
    typealias Request = UpdateOperation
    let store: StoreQueue
}

/// Removes a record.
struct DeleteTask: WriteTask {
    static let name = "persistence.delete"
    static let summary = "Removes a record."
    static let optionBytes: Int? = nil
    typealias Request = DeleteOperation
    let store: StoreQueue
}

extension WriteTask where Request: RecordOperation {
    func perform(_ request: Request, _ caller: Caller, _ access: StoreAccess) throws -> [UInt8] {
        try request.perform(in: caller.namespace(named: request.namespace, access.namespaces), at: "$", access).bytes
    }
}
