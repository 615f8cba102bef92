import TaskKit

/// A record as a caller gives it.
enum RecordOption: Codable, Sendable {
    case json(JSON)
    /// An object's text, in the form in which it is stored.
    case compact(ArraySlice<UInt8>)

    init(from decoder: any Decoder) throws { self = .json(try JSON(from: decoder)) }

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .json(let json): try json.encode(to: encoder)
        case .compact(let text): try JSON(parsing: Array(text)).encode(to: encoder)
        }
    }

    /// The text that is stored for it.
    ///
    /// - Parameters:
    ///   - path: Where the operation stands in the options.
    ///   - name: The option's name there.
    func text(at path: String, _ name: StaticString) throws(BridgeError) -> ArraySlice<UInt8> {
        let text: ArraySlice<UInt8>
        switch self {
        case .compact(let bytes): text = bytes
        case .json(let json):
            guard case .object = json else {
                throw .unfit("\(path).\(name)", expected: "object", got: json.typeName)
            }
            text = json.bytes[...]
        }
        guard text.count <= Limits.recordBytes else {
            throw .unfit(
                "\(path).\(name)", expected: "a record of at most \(Limits.recordBytes) bytes",
                got: "\(text.count) bytes")
        }
        return text
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

extension Place {
    init(namespace: Namespace, checking table: ExactText, at path: String) throws(BridgeError) {
        self.init(namespace: namespace, table: try table.checkedAsTable(at: path))
    }
}

extension Namespace {
    /// Reads the option `namespace`.
    init(named name: String) throws(BridgeError) {
        guard let namespace = Namespace(parsing: name) else {
            throw .unfit(
                "$.namespace", expected: "a user id, a colon and an origin, such as 1000:local",
                got: "\"\(String(name.unicodeScalars.prefix(64)))\"")
        }
        self = namespace
    }
}
