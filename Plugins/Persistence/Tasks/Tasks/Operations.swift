import TaskKit

/// The changes that a call can ask for, alone or in a transaction.
///
/// `path` is the operation's place in the options, for errors about them.

struct CreateOperation: Codable, Sendable {
    var table: ExactText
    var key: ExactText?
    var record: RecordOption
    var namespace: String?

    func perform(in namespace: Namespace, at path: String, _ access: StoreAccess) throws -> Changed {
        let place = try Place(namespace: namespace, checking: table, at: path)
        let key = try key?.checkedAsKey(at: path) ?? access.keys.next()
        let body = try record.text(at: path, "record")
        return Changed(key: key, version: try access.records.create(key, body, in: place))
    }
}

struct UpdateOperation: Codable, Sendable {
    var table: ExactText
    var key: ExactText
    var record: RecordOption?
    var patch: JSON?
    var ifVersion: Int64?
    var namespace: String?

    func perform(in namespace: Namespace, at path: String, _ access: StoreAccess) throws -> Changed {
        let place = try Place(namespace: namespace, checking: table, at: path)
        let key = try key.checkedAsKey(at: path)
        let change = try checkedChange(at: path)
        let version = try access.records.update(key, in: place, ifVersion: ifVersion) { old in
            switch change {
            case .whole(let body): body
            case .patch(let patch):
                try RecordOption.compact(MergePatch.apply(patch, toText: old())[...]).text(at: path, "patch")
            }
        }
        return Changed(key: key, version: version)
    }

    private enum Modification {
        case whole(ArraySlice<UInt8>)
        case patch(JSONObject)
    }

    private func checkedChange(at path: String) throws(BridgeError) -> Modification {
        switch (record, patch) {
        case (let record?, nil):
            return .whole(try record.text(at: path, "record"))
        case (nil, let patch?):
            guard case .object(let members) = patch else {
                throw .unfit("\(path).patch", expected: "object", got: patch.typeName)
            }
            return .patch(members)
        case (nil, nil):
            throw .unfit(path, expected: "record or patch", got: "neither")
        case (_?, _?):
            throw .unfit(path, expected: "record or patch", got: "both")
        }
    }
}

struct DeleteOperation: Codable, Sendable {
    var table: ExactText
    var key: ExactText
    var ifVersion: Int64?
    var namespace: String?

    func perform(in namespace: Namespace, at path: String, _ access: StoreAccess) throws -> Changed {
        let place = try Place(namespace: namespace, checking: table, at: path)
        let key = try key.checkedAsKey(at: path)
        return Changed(key: key, version: try access.records.delete(key, in: place, ifVersion: ifVersion))
    }
}

/// What an operation answers.
struct Changed: Sendable {
    var key: ExactText
    var version: Int64

    /// `{"key", "version"}`.
    func write(to bytes: inout [UInt8]) {
        bytes.append(literal: #"{"key":"#)
        bytes.append(quoted: key.utf8)
        bytes.append(literal: #","version":"#)
        bytes.append(number: version)
        bytes.append(UInt8(ascii: "}"))
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(key.utf8.count + 48)
        write(to: &bytes)
        return bytes
    }
}

// MARK: Checks

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

extension Caller {
    /// The namespace that the caller means: its own, or the one that it names.
    ///
    /// - Parameter memory: Makes the caller's own.
    /// - Throws: `options.invalid` where it is none. Whether he may name it, the daemon has asked: see ``StoreTask``.
    func namespace(named name: String?, _ memory: NamespaceMemory? = nil) throws(BridgeError) -> Namespace {
        guard let name else {
            return memory?.namespace(uid: uid, origin: origin) ?? Namespace(uid: uid, origin: origin)
        }
        return try Namespace(named: name)
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
