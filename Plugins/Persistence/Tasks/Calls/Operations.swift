import TaskKit

// The changes that a call can request, alone or in a transaction.

/// Creates a record.
struct CreateOperation: RecordOperation {
    var table: ExactText
    var key: ExactText?
    var record: CompactJSON
    var namespace: String?

    func perform(in namespace: Namespace, at path: String, _ access: StoreAccess) throws -> Changed {
        let tablePath = try TablePath(namespace: namespace, checking: table, at: path)
        let key = try key?.checkedAsKey(at: path) ?? access.keys.next()
        let body = try record.checkedAsRecord(at: "\(path).record")
        return Changed(key: key, version: try access.records.create(key, body, in: tablePath))
    }
}

/// Replaces a record, or changes it by a merge patch.
struct UpdateOperation: RecordOperation {
    var table: ExactText
    var key: ExactText
    var record: CompactJSON?
    var patch: CompactJSON?
    var ifVersion: Int64?
    var namespace: String?

    func perform(in namespace: Namespace, at path: String, _ access: StoreAccess) throws -> Changed {
        let tablePath = try TablePath(namespace: namespace, checking: table, at: path)
        let key = try key.checkedAsKey(at: path)
        let change = try checkedChange(at: path)
        let version = try access.records.update(key, in: tablePath, ifVersion: ifVersion) { old in
            switch change {
            case .whole(let body): body
            case .patch(let patch):
                try Self.apply(patch, to: old()).checkedAsRecord(at: "\(path).patch")
            }
        }
        return Changed(key: key, version: version)
    }

    private static func apply(_ patch: CompactJSON, to record: [UInt8]) throws -> [UInt8] {
        guard let changed = record.withUnsafeBytes({ MergePatch.apply(patch, to: $0) }) else {
            throw StoreInconsistency()
        }
        return changed
    }

    private enum Modification {
        case whole([UInt8])
        case patch(CompactJSON)
    }

    private func checkedChange(at path: String) throws(BridgeError) -> Modification {
        switch (record, patch) {
        case (let record?, nil):
            return .whole(try record.checkedAsRecord(at: "\(path).record"))
        case (nil, let patch?):
            guard patch.typeName == "object" else {
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

/// Removes a record.
struct DeleteOperation: RecordOperation {
    var table: ExactText
    var key: ExactText
    var ifVersion: Int64?
    var namespace: String?

    func perform(in namespace: Namespace, at path: String, _ access: StoreAccess) throws -> Changed {
        let tablePath = try TablePath(namespace: namespace, checking: table, at: path)
        let key = try key.checkedAsKey(at: path)
        return Changed(key: key, version: try access.records.delete(key, in: tablePath, ifVersion: ifVersion))
    }
}

/// A change of one record.
protocol RecordOperation: Codable, Sendable {
    /// The namespace's name; `nil` for the caller's own.
    var namespace: String? { get }

    /// Changes the record, in the transaction of `access`.
    ///
    /// - Parameter path: The operation's path in the options, for errors: `$` if the operation is the whole options.
    func perform(in namespace: Namespace, at path: String, _ access: StoreAccess) throws -> Changed
}

/// The result of an operation.
struct Changed: Sendable {
    var key: ExactText
    var version: Int64

    /// Appends `{"key", "version"}`.
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

extension Caller {
    /// Returns the namespace for the call: the caller's own, or the named one.
    ///
    /// - Parameter memory: Provides the caller's own namespace; without it, the namespace is created.
    /// - Throws: `options.invalid` if the name is invalid. The daemon has checked that the caller may name it: see
    ///   ``StoreTask``.
    func namespace(named name: String?, _ memory: NamespaceMemory? = nil) throws(BridgeError) -> Namespace {
        guard let name else {
            return memory?.namespace(uid: uid, origin: origin) ?? Namespace(uid: uid, origin: origin)
        }
        return try Namespace(named: name)
    }
}
