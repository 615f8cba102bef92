/// All strings of an object under one key. If a key occurs several times, some readers use the first value and others
/// the last, so code that decides by a member must check all of them.
public struct MemberStrings: Sendable {
    /// The maximum number of values: each of them is checked, and a text may contain tens of thousands.
    private static let maximumValues = 16

    /// The key.
    public let key: String
    /// The key as it usually appears in a text.
    private let quotedKey: [UInt8]
    private let keyBytes: [UInt8]

    /// Creates a reader for this key.
    public init(_ key: String) {
        self.key = key
        quotedKey = JSON.string(key).bytes
        keyBytes = Array(key.utf8)
    }

    /// Returns the strings under the key in an object; none for another value. `null` is not a string and is skipped.
    ///
    /// - Parameter text: JSON that has been checked.
    /// - Throws: if a value under the key is neither a string nor `null`, or if there are too many values.
    public func values(in text: UnsafeRawBufferPointer) throws(JSONMismatch) -> [String] {
        var walk = MemberCursor(text)
        var values: [String] = []
        while let member = walk.next() {
            guard isKey(member.key) else { continue }
            switch member.value.first {
            case UInt8(ascii: "\""):
                guard values.count < Self.maximumValues else {
                    throw JSONMismatch(path: "$.\(key)", expected: "one string", got: "more than \(Self.maximumValues)")
                }
                values.append(Self.string(member.value))
            case UInt8(ascii: "n"): continue
            default: throw mismatch(member.value)
            }
        }
        return values
    }

    private func isKey(_ written: UnsafeRawBufferPointer) -> Bool {
        // Escapes make a key longer, never shorter: most other keys are excluded by their length.
        guard written.count >= keyBytes.count + 2 else { return false }
        if written.count == quotedKey.count, written.elementsEqual(quotedKey) { return true }
        return keyBytes.withUnsafeBytes { WrittenName.isSame(Self.content(written), as: $0) }
    }

    private static func string(_ quoted: UnsafeRawBufferPointer) -> String {
        Escapes.resolve(content(quoted))
    }

    private static func content(_ quoted: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: quoted.dropFirst().dropLast())
    }

    private func mismatch(_ value: UnsafeRawBufferPointer) -> JSONMismatch {
        JSONMismatch(path: "$.\(key)", expected: "a string", got: Self.description(of: value))
    }

    /// Returns the description of a value for a mismatch. A container is not read: it may be the whole text.
    private static func description(of value: UnsafeRawBufferPointer) -> String {
        let first = value.first
        guard first == UInt8(ascii: "[") || first == UInt8(ascii: "{") else {
            let tape = try? JSONTape(value, maximumDepth: JSON.maximumDepth)
            return tape.map { $0.describe(JSONTape.root) } ?? "something else"
        }
        let isEmpty = value.dropFirst().dropLast().allSatisfy { $0 <= 0x20 }
        return "an \(isEmpty ? "empty " : "")\(first == UInt8(ascii: "[") ? "array" : "object")"
    }
}
