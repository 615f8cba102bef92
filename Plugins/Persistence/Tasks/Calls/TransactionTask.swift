import TaskKit

/// Changes several records, all or none.
struct TransactionTask: WriteTask {
    static let name = "persistence.transaction"
    static let summary = "Performs several creates, updates and deletes: all of them or none."
    struct Request: Codable, Sendable {
        var operations: [Operation]
        var namespace: String?
    }
    /// One operation: exactly one of the three members.
    struct Operation: Codable, Sendable {
        var create: CreateOperation?
        var update: UpdateOperation?
        var delete: DeleteOperation?
    }
    let store: StoreQueue

    func perform(_ request: Request, _ caller: Caller, _ access: StoreAccess) throws -> [UInt8] {
        let namespace = try caller.namespace(named: request.namespace)
        guard request.operations.count <= Limits.operations else {
            throw BridgeError.unfit(
                "$.operations", expected: "at most \(Limits.operations) operations",
                got: "\(request.operations.count)")
        }
        return try access.records.inSavepoint { try perform(request.operations, in: namespace, access) }
    }

    private func perform(
        _ operations: [Operation], in namespace: Namespace, _ access: StoreAccess
    ) throws -> [UInt8] {
        var bytes = Array(#"{"results":["#.utf8)
        for (index, operation) in operations.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            do {
                try operation.perform(in: namespace, at: "$.operations[\(index)]", access).write(to: &bytes)
            } catch let error as BridgeError {
                throw error.of(operation: index)
            }
        }
        bytes += "]}".utf8
        return bytes
    }
}

extension TransactionTask.Operation {
    fileprivate func perform(in namespace: Namespace, at path: String, _ access: StoreAccess) throws -> Changed {
        switch (create, update, delete) {
        case (let create?, nil, nil):
            try refuse(create.namespace, at: "\(path).create")
            return try create.perform(in: namespace, at: "\(path).create", access)
        case (nil, let update?, nil):
            try refuse(update.namespace, at: "\(path).update")
            return try update.perform(in: namespace, at: "\(path).update", access)
        case (nil, nil, let delete?):
            try refuse(delete.namespace, at: "\(path).delete")
            return try delete.perform(in: namespace, at: "\(path).delete", access)
        case (nil, nil, nil):
            throw BridgeError.unfit(path, expected: "create, update or delete", got: "none of them")
        default:
            throw BridgeError.unfit(path, expected: "create, update or delete", got: "more than one of them")
        }
    }

    private func refuse(_ namespace: String?, at path: String) throws(BridgeError) {
        guard namespace != nil else { return }
        throw .unfit("\(path).namespace", expected: "nothing: a transaction has one namespace", got: "a namespace")
    }
}

extension BridgeError {
    /// Returns the error with the index of the failed operation.
    fileprivate func of(operation index: Int) -> BridgeError {
        var error = self
        var data = data?.objectValue ?? JSONObject()
        data["index"] = .number(JSONNumber(index))
        if data["path"] == nil { data["path"] = .string("$.operations[\(index)]") }
        error.data = .object(data)
        error.message = "operation \(index): \(message)"
        return error
    }
}
