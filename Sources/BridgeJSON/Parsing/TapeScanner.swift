/// Goes once through the bytes of a text, checks all of RFC 8259, and writes the tape.
///
/// It does not call itself: open containers are chained through their entries, so that no nesting, however hostile,
/// costs stack.
struct TapeScanner {
    private static let none = UInt32.max

    private let bytes: UnsafeRawBufferPointer
    private let maximumDepth: Int
    private var position = 0
    /// The innermost container that is still open.
    private var open = none
    private var depth = 0
    private(set) var entries: [Tape.Entry] = []

    init(_ bytes: UnsafeRawBufferPointer, maximumDepth: Int) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
        // About what texts need; a bound, because a long text may be one string.
        entries.reserveCapacity(min(bytes.count / 4, 4096) + 4)
    }

    /// Reads one value, and nothing but white space around it.
    mutating func document() throws(JSONSyntaxError) {
        var isWhole = try beginValue()
        while true {
            while isWhole, open != Self.none { isWhole = try !continues() }
            if isWhole { break }
            isWhole = try beginValue()
        }
        skipSpace()
        guard position == bytes.count else { throw error("something follows the value") }
    }

    private func error(_ reason: String) -> JSONSyntaxError { JSONSyntaxError(offset: position, reason: reason) }

    /// The byte at the position; zero, which JSON has nowhere, at the end.
    private var current: UInt8 { position < bytes.count ? bytes[position] : 0 }

    private mutating func skipSpace() {
        while true {
            switch current {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    private mutating func append(_ kind: Tape.Entry.Kind, from start: Int, to end: Int) {
        entries.append(
            Tape.Entry(
                kind: kind, offset: UInt32(truncatingIfNeeded: start), length: UInt32(truncatingIfNeeded: end - start),
                next: UInt32(truncatingIfNeeded: entries.count + 1)))
    }

    // MARK: Values

    /// Reads a scalar or an empty container; or opens a container and goes to its first element, and returns false.
    private mutating func beginValue() throws(JSONSyntaxError) -> Bool {
        skipSpace()
        switch current {
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "{"): return try beginContainer(.object)
        case UInt8(ascii: "["): return try beginContainer(.array)
        case UInt8(ascii: "t"): try literal("true", .true)
        case UInt8(ascii: "f"): try literal("false", .false)
        case UInt8(ascii: "n"): try literal("null", .null)
        default: try number()
        }
        return true
    }

    private mutating func literal(_ word: StaticString, _ kind: Tape.Entry.Kind) throws(JSONSyntaxError) {
        let expected = UnsafeRawBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard bytes[position...].starts(with: expected) else { throw error("neither true, false nor null") }
        append(kind, from: position, to: position + expected.count)
        position += expected.count
    }

    private mutating func number() throws(JSONSyntaxError) {
        let start = position
        guard NumberText.skip(bytes, &position) else {
            throw start == position ? error("a value was expected") : error("no number of JSON's grammar")
        }
        append(.number, from: start, to: position)
    }

    private mutating func beginContainer(_ kind: Tape.Entry.Kind) throws(JSONSyntaxError) -> Bool {
        guard depth < maximumDepth else { throw error("nested deeper than \(maximumDepth) levels") }
        depth += 1
        let around = open
        open = UInt32(truncatingIfNeeded: entries.count)
        entries.append(
            Tape.Entry(kind: kind, offset: UInt32(truncatingIfNeeded: position), length: 0, next: around))
        position += 1
        skipSpace()
        if current == (kind == .object ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
            close()
            return true
        }
        if kind == .object { try key() }
        return false
    }

    /// Behind an element or member: true where another follows and its value is next; else the container is closed.
    private mutating func continues() throws(JSONSyntaxError) -> Bool {
        entries[Int(open)].length += 1
        let isObject = entries[Int(open)].kind == .object
        skipSpace()
        switch current {
        case UInt8(ascii: ","):
            position += 1
            if isObject { try key() }
            return true
        case isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"):
            close()
            return false
        default:
            throw error(isObject ? "a comma or } was expected" : "a comma or ] was expected")
        }
    }

    private mutating func close() {
        let container = Int(open)
        open = entries[container].next
        entries[container].next = UInt32(truncatingIfNeeded: entries.count)
        depth -= 1
        position += 1
    }

    /// Reads a key and its colon.
    private mutating func key() throws(JSONSyntaxError) {
        skipSpace()
        guard current == UInt8(ascii: "\"") else { throw error("a key in quotes was expected") }
        try string()
        skipSpace()
        guard current == UInt8(ascii: ":") else { throw error("a colon was expected") }
        position += 1
    }

    /// Reads a string, its opening quote at the position.
    private mutating func string() throws(JSONSyntaxError) {
        position += 1
        let start = position
        let isEscaped = try StringText.skip(bytes, &position)
        append(isEscaped ? .escapedString : .string, from: start, to: position)
        position += 1
    }
}
