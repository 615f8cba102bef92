import TaskKit

extension CompactJSON {
    /// Returns the text that is stored for a record.
    ///
    /// - Parameter path: The record's path in the options.
    func checkedAsRecord(at path: String) throws(BridgeError) -> [UInt8] {
        guard typeName == "object" else { throw .unfit(path, expected: "object", got: typeName) }
        return try bytes.checkedAsRecord(at: path)
    }
}

extension [UInt8] {
    /// Returns the text of an object if it is short enough to be stored.
    func checkedAsRecord(at path: String) throws(BridgeError) -> [UInt8] {
        guard count <= Limits.recordBytes else {
            throw .unfit(path, expected: "a record of at most \(Limits.recordBytes) bytes", got: "\(count) bytes")
        }
        return self
    }
}

extension ExactText {
    func checkedAsKey(at path: String) throws(BridgeError) -> ExactText {
        try checked(upTo: Limits.keyBytes, path, "key")
    }

    func checkedAsTable(at path: String) throws(BridgeError) -> ExactText {
        try checked(upTo: Limits.tableBytes, path, "table")
    }

    private func checked(upTo maximum: Int, _ path: String, _ name: String) throws(BridgeError) -> ExactText {
        guard (1...maximum).contains(utf8.count) else {
            throw .unfit("\(path).\(name)", expected: "1 to \(maximum) bytes", got: "\(utf8.count) bytes")
        }
        return self
    }
}

extension TablePath {
    init(namespace: Namespace, checking table: ExactText, at path: String) throws(BridgeError) {
        self.init(namespace: namespace, table: try table.checkedAsTable(at: path))
    }
}

extension Namespace {
    /// Parses the option `namespace`.
    init(named name: String) throws(BridgeError) {
        guard let namespace = Namespace(parsing: name) else {
            throw .unfit(
                "$.namespace", expected: "a user id, a colon and an origin, such as 1000:local",
                got: "\"\(String(name.unicodeScalars.prefix(64)))\"")
        }
        self = namespace
    }
}
