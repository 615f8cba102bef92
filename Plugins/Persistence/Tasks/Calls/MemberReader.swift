import TaskKit

/// Goes through the members of an object whose text is valid JSON, as what is stored is. It finds the ends of the
/// values without reading them: a byte costs about a nanosecond.
///
/// Whatever the bytes are, nothing outside of them is read, and every step goes forward.
struct MemberReader {
    /// A member as it lies.
    struct Member {
        /// The name with its quotes.
        var quotedName: UnsafeRawBufferPointer
        var value: UnsafeRawBufferPointer

        /// The name as the bytes that it means.
        func nameBytes() throws -> [UInt8] {
            if !quotedName.contains(UInt8(ascii: "\\")) { return Array(quotedName.dropFirst().dropLast()) }
            guard let name = try JSON(parsing: quotedName).stringValue else { throw StoreInconsistency() }
            return Array(name.utf8)
        }
    }

    private let text: UnsafeRawBufferPointer
    private var position = 0

    /// - Returns: nil where the text is no object.
    init?(_ text: UnsafeRawBufferPointer) {
        self.text = text
        skipSpace()
        guard take(UInt8(ascii: "{")) else { return nil }
    }

    /// The next member; nil: that was the last.
    ///
    /// - Throws: `StoreInconsistency` where the text is no JSON.
    mutating func next() throws -> Member? {
        skipSpace()
        _ = take(UInt8(ascii: ","))
        skipSpace()
        if take(UInt8(ascii: "}")) { return nil }
        let name = position
        try skipString()
        let nameEnd = position
        skipSpace()
        guard take(UInt8(ascii: ":")) else { throw StoreInconsistency() }
        skipSpace()
        let value = position
        try skipValue()
        return Member(
            quotedName: UnsafeRawBufferPointer(rebasing: text[name..<nameEnd]),
            value: UnsafeRawBufferPointer(rebasing: text[value..<position]))
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard position < text.count, text[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while position < text.count, Self.isSpace(text[position]) { position += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    private mutating func skipString() throws {
        guard take(UInt8(ascii: "\"")) else { throw StoreInconsistency() }
        var isASCII = true
        while true {
            position = JSONText.endOfPlainText(in: text, from: position, &isASCII)
            if take(UInt8(ascii: "\"")) { return }
            // What stands behind a backslash ends no string; other bytes cannot be here.
            guard take(UInt8(ascii: "\\")), position < text.count else { throw StoreInconsistency() }
            position += 1
        }
    }

    private mutating func skipValue() throws {
        let start = position
        var depth = 0
        repeat {
            guard position < text.count else { throw StoreInconsistency() }
            switch text[position] {
            case UInt8(ascii: "\""): try skipString()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                position += 1
            default:
                if depth == 0 { skipWord() } else { position += 1 }
            }
        } while depth > 0
        guard depth == 0, position > start else { throw StoreInconsistency() }
    }

    /// Skips a number, or `true` and the like.
    private mutating func skipWord() {
        while position < text.count, !Self.ends(text[position]) { position += 1 }
    }

    /// Whether a byte ends a number or a word.
    private static func ends(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") || isSpace(byte)
    }
}
