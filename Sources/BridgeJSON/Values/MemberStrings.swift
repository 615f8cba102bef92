/// What an object says under one key, wherever it says it: of equal keys readers take now the first, now the last, so
/// who decides by a member has to look at all of them.
public struct MemberStrings: Sendable {
    /// It may stand there so many times: each of them is looked at, and a text may have it ten thousands of times.
    private static let mostValues = 16

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
                guard values.count < Self.mostValues else {
                    throw JSONMismatch(path: "$.\(key)", expected: "one string", got: "more than \(Self.mostValues)")
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

/// The members of an object, one after the other, as they are written.
///
/// The text has been checked; were it no JSON after all, the walk would end early, and never leave it.
private struct MemberCursor {
    private let text: UnsafeRawBufferPointer
    private var position = 0

    init(_ text: UnsafeRawBufferPointer) {
        self.text = text
        skipSpace()
        if current == UInt8(ascii: "{") { position += 1 } else { position = text.count }
    }

    /// A NUL behind the end.
    private var current: UInt8 { position < text.count ? text[position] : 0 }

    /// The next member, its key with quotes.
    mutating func next() -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
        skipSpace()
        if current == UInt8(ascii: ",") { position += 1 }
        skipSpace()
        guard current == UInt8(ascii: "\""), let key = string() else { return nil }
        skipSpace()
        guard current == UInt8(ascii: ":") else { return nil }
        position += 1
        skipSpace()
        return value().map { (key, $0) }
    }

    private mutating func skipSpace() {
        while current == 0x20 || current == 0x0A || current == 0x0D || current == 0x09 { position += 1 }
    }

    private func part(from start: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: text[start..<position])
    }

    private mutating func string() -> UnsafeRawBufferPointer? {
        let start = position
        position += 1
        var isASCII = true
        while true {
            position = JSONText.endOfPlainText(in: text, from: position, &isASCII)
            guard position < text.count else { return nil }
            if current == UInt8(ascii: "\"") {
                position += 1
                return part(from: start)
            }
            position = min(position + 2, text.count)
        }
    }

    private mutating func value() -> UnsafeRawBufferPointer? {
        let start = position
        var depth = 0
        while position < text.count {
            switch current {
            case UInt8(ascii: "\""):
                guard string() != nil else { return nil }
                if depth == 0 { return part(from: start) }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                // The object's own end, behind a number or a word.
                if depth == 0 { return part(from: start) }
                depth -= 1
                if depth == 0 {
                    position += 1
                    return part(from: start)
                }
            case UInt8(ascii: ","), 0x20, 0x09, 0x0A, 0x0D:
                if depth == 0 { return part(from: start) }
            default: break
            }
            position += 1
        }
        return nil
    }
}
