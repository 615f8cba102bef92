import Glibc
import TaskKit

/// Reads options without a tree, where they are written as a writer of compact JSON writes them: no white space, no
/// escape that could be spelt otherwise, no name twice in an object, nothing nested deeply. Such a text is, byte for
/// byte, what parsing it and writing it again gives; so a part of it can be stored as it lies.
///
/// Any other text is not wrong, but for the parser to judge: every method answers nil or false for it.
struct CompactJSON {
    private let bytes: UnsafePointer<UInt8>
    private let count: Int
    private var position = 0
    private var isASCII = true
    /// The names of the objects that the position is in, those of the innermost last.
    private var names: UnsafeMutableBufferPointer<Range<Int>>
    private var nameCount = 0

    /// Names of all objects that one place is in: as many as can be compared with one another in no time.
    private static let maximumNames = 48
    private static let maximumDepth = 16

    /// Goes through the members of the object that the text is.
    ///
    /// - Parameter member: Gets the name, without its quotes, and the place of the value. Returns whether it wants it
    ///   so.
    /// - Returns: Whether the text is of the form, and everything in it wanted.
    static func forEachMember(
        of bytes: UnsafeRawBufferPointer, _ member: (_ name: UnsafeRawBufferPointer, _ value: Range<Int>) -> Bool
    ) -> Bool {
        guard let address = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return false }
        return withUnsafeTemporaryAllocation(of: Range<Int>.self, capacity: maximumNames) { names in
            var text = CompactJSON(bytes: address, count: bytes.count, names: names)
            return text.object(depth: 1, member) && text.position == bytes.count
                && (text.isASCII || String(validating: bytes, as: UTF8.self) != nil)
        }
    }

    private init(bytes: UnsafePointer<UInt8>, count: Int, names: UnsafeMutableBufferPointer<Range<Int>>) {
        (self.bytes, self.count, self.names) = (bytes, count, names)
    }

    /// A NUL behind the end, which no rule takes.
    private var current: UInt8 { position < count ? bytes[position] : 0 }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard current == byte else { return false }
        position += 1
        return true
    }

    // MARK: Values

    private mutating func value(depth: Int) -> Bool {
        switch current {
        case UInt8(ascii: "\""): string() != nil
        case UInt8(ascii: "{"): object(depth: depth) { _, _ in true }
        case UInt8(ascii: "["): array(depth: depth)
        case UInt8(ascii: "t"): literal("true")
        case UInt8(ascii: "f"): literal("false")
        case UInt8(ascii: "n"): literal("null")
        default: number()
        }
    }

    private mutating func literal(_ word: StaticString) -> Bool {
        guard count - position >= word.utf8CodeUnitCount,
            memcmp(bytes + position, word.utf8Start, word.utf8CodeUnitCount) == 0
        else { return false }
        position += word.utf8CodeUnitCount
        return true
    }

    private mutating func array(depth: Int) -> Bool {
        guard depth <= Self.maximumDepth, take(UInt8(ascii: "[")) else { return false }
        if take(UInt8(ascii: "]")) { return true }
        repeat {
            guard value(depth: depth + 1) else { return false }
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "]"))
    }

    private mutating func object(
        depth: Int, _ member: (_ name: UnsafeRawBufferPointer, _ value: Range<Int>) -> Bool
    ) -> Bool {
        guard depth <= Self.maximumDepth, take(UInt8(ascii: "{")) else { return false }
        if take(UInt8(ascii: "}")) { return true }
        let firstName = nameCount
        repeat {
            guard let name = string(), isNew(name, since: firstName), take(UInt8(ascii: ":")) else { return false }
            let start = position
            guard value(depth: depth + 1) else { return false }
            let text = UnsafeRawBufferPointer(start: bytes + name.lowerBound, count: name.count)
            guard member(text, start..<position) else { return false }
        } while take(UInt8(ascii: ","))
        nameCount = firstName
        return take(UInt8(ascii: "}"))
    }

    /// Whether no member of the object has this name, which is taken note of. Texts of this form are equal where what
    /// they mean is.
    private mutating func isNew(_ name: Range<Int>, since first: Int) -> Bool {
        guard nameCount < names.count else { return false }
        for index in first..<nameCount where names[index].count == name.count {
            if memcmp(bytes + names[index].lowerBound, bytes + name.lowerBound, name.count) == 0 { return false }
        }
        names.initializeElement(at: nameCount, to: name)
        nameCount += 1
        return true
    }

    // MARK: Strings and numbers

    /// - Returns: What is between the quotes.
    private mutating func string() -> Range<Int>? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = position
        let text = UnsafeRawBufferPointer(start: bytes, count: count)
        while true {
            position = JSONText.endOfPlainText(in: text, from: position, &isASCII)
            if take(UInt8(ascii: "\"")) { return start..<position - 1 }
            guard take(UInt8(ascii: "\\")), Self.isCompactEscape(current) else { return nil }
            position += 1
        }
    }

    /// Whether the character behind a backslash makes the one spelling that `JSONText` has for what it means.
    private static func isCompactEscape(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
            UInt8(ascii: "r"), UInt8(ascii: "t"):
            true
        default: false
        }
    }

    private mutating func number() -> Bool {
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")), !digits() { return false }
        if take(UInt8(ascii: ".")), !digits() { return false }
        if current | 0x20 == UInt8(ascii: "e") {
            position += 1
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            return digits()
        }
        return true
    }

    /// At least one.
    private mutating func digits() -> Bool {
        let start = position
        while current &- UInt8(ascii: "0") < 10 { position += 1 }
        return position > start
    }
}

extension UnsafeRawBufferPointer {
    /// Whether these are the bytes of a text.
    func equals(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount, let baseAddress else { return false }
        return memcmp(baseAddress, text.utf8Start, count) == 0
    }

    /// The content of a string of a compact text at a place, where it is a string without escapes.
    func plainText(at place: Range<Int>) -> ExactText? {
        guard place.count >= 2, self[place.lowerBound] == UInt8(ascii: "\"") else { return nil }
        let content = UnsafeRawBufferPointer(rebasing: self[place.lowerBound + 1..<place.upperBound - 1])
        return content.contains(UInt8(ascii: "\\")) ? nil : ExactText(utf8: Array(content))
    }
}
