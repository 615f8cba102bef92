/// What an object says under one key, wherever it says it: of equal keys readers take now the first, now the last, so
/// who decides by a member has to look at all of them.
public struct MemberStrings: Sendable {
    /// It may stand there so many times: each of them is looked at, and a text may have it ten thousands of times.
    private static let maximumValues = 16

    /// The key.
    public let key: String
    /// The key as it mostly stands in a text.
    private let quotedKey: [UInt8]
    private let keyBytes: [UInt8]

    /// What stands under this key.
    public init(_ key: String) {
        self.key = key
        quotedKey = JSON.string(key).bytes
        keyBytes = Array(key.utf8)
    }

    /// The strings that stand under the key in an object; of another value, none. `null` is no string, and none is
    /// meant.
    ///
    /// - Parameter text: JSON that has been checked.
    /// - Throws: what stands there that is neither a string nor `null`, and that the key stands there too many times.
    public func values(in text: UnsafeRawBufferPointer) throws(JSONMismatch) -> [String] {
        var walk = MemberCursor(text)
        var values: [String] = []
        while let member = walk.next() {
            guard says(member.key) else { continue }
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

    private func says(_ written: UnsafeRawBufferPointer) -> Bool {
        // Escapes make a key longer, never shorter: most of those of other members need no look.
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

    /// What a value is, as mismatches have it. A container is not read: it may be the whole text.
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
