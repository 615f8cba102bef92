import TaskKit

/// JSON Merge Patch, RFC 7396: a patch is an object that looks like what it changes. Its members replace those of the
/// same name, `null` removes them, and objects are merged likewise, one inside the other.
enum MergePatch {
    /// The target as the patch changes it. What the patch does not mention stays as it is, number texts included.
    static func apply(_ patch: JSON, to target: JSON) -> JSON {
        guard case .object(let members) = patch else { return patch }
        var result = target.objectValue ?? JSONObject()
        for (name, value) in members {
            // `none` in full: a bare nil could as well be the JSON null.
            result[name] = value.isNull ? Optional.none : apply(value, to: result[name] ?? .null)
        }
        return .object(result)
    }

    /// The same for the text of an object, valid JSON. What the patch does not mention is copied as it lies: reading a
    /// large record into values and writing it again costs ten times as much.
    ///
    /// - Throws: `StoreInconsistency` where the text is no object.
    static func apply(_ patch: JSONObject, toText text: [UInt8]) throws -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count + 256)
        try text.withUnsafeBytes { try merge(patch, into: $0, &result) }
        return result
    }

    private static func merge(
        _ patch: JSONObject, into text: UnsafeRawBufferPointer, _ result: inout [UInt8]
    ) throws {
        var rest: [[UInt8]: JSON] = [:]
        for (name, value) in patch { rest[Array(name.utf8)] = value }
        var writer = ObjectWriter(&result)
        guard var members = MemberReader(text) else { throw StoreInconsistency() }
        while let member = try members.next() {
            guard let value = rest.removeValue(forKey: try member.nameBytes()) else {
                writer.append(quotedName: member.quotedName, to: &result)
                result.append(contentsOf: member.value)
                continue
            }
            if value.isNull { continue }
            writer.append(quotedName: member.quotedName, to: &result)
            if case .object(let inner) = value, member.value.first == UInt8(ascii: "{") {
                try merge(inner, into: member.value, &result)
            } else {
                result += apply(value, to: .null).bytes
            }
        }
        for (name, value) in patch where !value.isNull && rest[Array(name.utf8)] != nil {
            writer.append(name: name, to: &result)
            result += apply(value, to: .null).bytes
        }
        result.append(UInt8(ascii: "}"))
    }
}

/// Writes the names of an object's members, and what stands between them.
private struct ObjectWriter {
    private var isEmpty = true

    init(_ bytes: inout [UInt8]) { bytes.append(UInt8(ascii: "{")) }

    mutating func append(quotedName: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
        separate(&bytes)
        bytes.append(contentsOf: quotedName)
        bytes.append(UInt8(ascii: ":"))
    }

    mutating func append(name: String, to bytes: inout [UInt8]) {
        separate(&bytes)
        bytes.append(quoted: Array(name.utf8))
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func separate(_ bytes: inout [UInt8]) {
        if !isEmpty { bytes.append(UInt8(ascii: ",")) }
        isEmpty = false
    }
}
