import TaskKit

/// The changes that a call can ask for, alone or in a transaction.
///
/// `path` is the operation's place in the options, for errors about them.

struct CreateOperation: Codable, Sendable {
    var table: String
    var key: String?
    var record: JSON
    var namespace: String?

    func perform(in namespace: Namespace, at path: String, _ access: StoreAccess) throws -> Changed {
        let place = try Place(namespace: namespace, checking: table, at: path)
        let key = try key.map { try ExactText(checkingKey: $0, at: path) } ?? ExactText(access.keys.next())
        let body = try recordText(record, at: "\(path).record")
        return Changed(key: key, version: try access.records.create(key, body, in: place))
    }
}

struct UpdateOperation: Codable, Sendable {
    var table: String
    var key: String
    var record: JSON?
    var patch: JSON?
    var ifVersion: Int64?
    var namespace: String?

    func perform(in namespace: Namespace, at path: String, _ access: StoreAccess) throws -> Changed {
        let place = try Place(namespace: namespace, checking: table, at: path)
        let key = try ExactText(checkingKey: key, at: path)
        let change = try checkedChange(at: path)
        let version = try access.records.update(key, in: place, ifVersion: ifVersion) { old in
            switch change {
            case .whole(let body): body
            case .patch(let patch):
                try recordText(MergePatch.apply(patch, to: JSON(parsing: old())), at: "\(path).patch")
            }
        }
        return Changed(key: key, version: version)
    }

    private enum Modification {
        case whole([UInt8])
        case patch(JSON)
    }

    private func checkedChange(at path: String) throws(BridgeError) -> Modification {
        switch (record, patch) {
        case (let record?, nil):
            return .whole(try recordText(record, at: "\(path).record"))
        case (nil, let patch?):
            guard case .object = patch else {
                throw .unfit("\(path).patch", expected: "object", got: patch.typeName)
            }
            return .patch(patch)
        case (nil, nil):
            throw .unfit(path, expected: "record or patch", got: "neither")
        case (_?, _?):
            throw .unfit(path, expected: "record or patch", got: "both")
        }
    }
}

struct DeleteOperation: Codable, Sendable {
    var table: String
    var key: String
    var ifVersion: Int64?
    var namespace: String?

    func perform(in namespace: Namespace, at path: String, _ access: StoreAccess) throws -> Changed {
        let place = try Place(namespace: namespace, checking: table, at: path)
        let key = try ExactText(checkingKey: key, at: path)
        return Changed(key: key, version: try access.records.delete(key, in: place, ifVersion: ifVersion))
    }
}

/// What an operation answers.
struct Changed: Sendable {
    var key: ExactText
    var version: Int64

    /// `{"key", "version"}`.
    func write(to bytes: inout [UInt8]) {
        bytes += #"{"key":"#.utf8
        JSONText.appendQuoted(key.text, to: &bytes)
        bytes += #","version":"#.utf8
        bytes += String(version).utf8
        bytes.append(UInt8(ascii: "}"))
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }
}

// MARK: Checks

/// The text that is stored for a record.
private func recordText(_ record: JSON, at path: String) throws(BridgeError) -> [UInt8] {
    guard case .object = record else { throw .unfit(path, expected: "object", got: record.typeName) }
    let bytes = record.bytes
    guard bytes.count <= Limits.recordBytes else {
        throw .unfit(path, expected: "a record of at most \(Limits.recordBytes) bytes", got: "\(bytes.count) bytes")
    }
    return bytes
}

extension ExactText {
    init(checkingKey key: String, at path: String) throws(BridgeError) {
        try self.init(checking: key, upTo: Limits.keyBytes, at: "\(path).key")
    }

    fileprivate init(checking text: String, upTo maximum: Int, at path: String) throws(BridgeError) {
        guard (1...maximum).contains(text.utf8.count) else {
            throw .unfit(path, expected: "1 to \(maximum) bytes", got: "\(text.utf8.count) bytes")
        }
        self.init(text)
    }
}

extension Place {
    init(namespace: Namespace, checking table: String, at path: String) throws(BridgeError) {
        self.init(
            namespace: namespace, table: try ExactText(checking: table, upTo: Limits.tableBytes, at: "\(path).table"))
    }
}

extension Caller {
    /// The namespace that the caller means: its own, or the one that it names.
    ///
    /// - Throws: `permission.denied` where somebody names one who may not; `options.invalid` where it is none.
    func namespace(named name: String?) throws(BridgeError) -> Namespace {
        guard let name else { return Namespace(uid: uid, origin: origin) }
        guard isTrusted else {
            let rule = "only root and the daemon's user may name a namespace"
            throw BridgeError(.permissionDenied, "Not allowed: \(rule).", data: ["rule": .string(rule)])
        }
        guard let namespace = Namespace(parsing: name) else {
            throw .unfit(
                "$.namespace", expected: "a user id, a colon and an origin, such as 1000:local", got: "\"\(name)\"")
        }
        return namespace
    }
}
