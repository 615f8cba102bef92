/// Why a text is not one JSON value.
public struct JSONSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The byte at which the reading stopped, from 0.
    public let offset: Int
    /// The reason, as the end of a sentence.
    public let reason: String

    /// The reason and the place.
    public var description: String { "\(reason) at byte \(offset)" }
}

extension JSON {
    /// Levels of nesting that a value may have unless the reader says otherwise: the bridge's own bound.
    public static let maximumDepth = 128

    /// Reads one value of RFC 8259; anything behind it but white space is refused. UTF-8 is checked, and so are lone
    /// surrogate escapes.
    ///
    /// - Parameter maximumDepth: at most 512, because the reader goes one call deeper with each level.
    public init(
        parsing bytes: UnsafeRawBufferPointer, maximumDepth: Int = JSON.maximumDepth
    ) throws(JSONSyntaxError) {
        var parser = JSONParser(bytes: bytes, maximumDepth: min(maximumDepth, 512))
        self = try parser.document()
    }

    /// Reads one value; see ``init(parsing:maximumDepth:)-(UnsafeRawBufferPointer,_)``.
    public init(parsing bytes: [UInt8], maximumDepth: Int = JSON.maximumDepth) throws(JSONSyntaxError) {
        let result = bytes.withUnsafeBytes { bytes in
            Result<JSON, JSONSyntaxError> { () throws(JSONSyntaxError) in
                try JSON(parsing: bytes, maximumDepth: maximumDepth)
            }
        }
        self = try result.get()
    }

    /// Reads one value; see ``init(parsing:maximumDepth:)-(UnsafeRawBufferPointer,_)``.
    public init(parsing text: String, maximumDepth: Int = JSON.maximumDepth) throws(JSONSyntaxError) {
        self = try JSON(parsing: Array(text.utf8), maximumDepth: maximumDepth)
    }
}

/// A reader that goes through the bytes once.
struct JSONParser {
    let bytes: UnsafeRawBufferPointer
    let maximumDepth: Int
    private var position = 0

    init(bytes: UnsafeRawBufferPointer, maximumDepth: Int) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
    }

    mutating func document() throws(JSONSyntaxError) -> JSON {
        let value = try value(depth: 1)
        skipSpace()
        guard position == bytes.count else { throw error("something follows the value") }
        return value
    }

    private func error(_ reason: String) -> JSONSyntaxError { JSONSyntaxError(offset: position, reason: reason) }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func value(depth: Int) throws(JSONSyntaxError) -> JSON {
        skipSpace()
        switch current {
        case UInt8(ascii: "{"): return .object(try object(depth: depth))
        case UInt8(ascii: "["): return .array(try array(depth: depth))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func literal(_ word: StaticString, _ value: JSON) throws(JSONSyntaxError) -> JSON {
        let expected = UnsafeRawBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard bytes[position...].starts(with: expected) else { throw error("neither true, false nor null") }
        position += expected.count
        return value
    }

    private mutating func number() throws(JSONSyntaxError) -> JSONNumber {
        let start = position
        var scan = NumberScan()
        while let byte = current, scan.take(byte) { position += 1 }
        guard scan.isWhole else {
            throw start == position ? error("a value was expected") : error("no number of JSON's grammar")
        }
        return JSONNumber(checked: String(decoding: bytes[start..<position], as: UTF8.self))
    }

    private mutating func enter(_ depth: Int) throws(JSONSyntaxError) {
        guard depth <= maximumDepth else { throw error("nested deeper than \(maximumDepth) levels") }
        position += 1
        skipSpace()
    }

    /// Behind a member or element: true where another follows.
    private mutating func goesOn(_ close: UInt8, _ reason: String) throws(JSONSyntaxError) -> Bool {
        skipSpace()
        guard current == UInt8(ascii: ",") || current == close else { throw error(reason) }
        defer { position += 1 }
        return current != close
    }

    private mutating func array(depth: Int) throws(JSONSyntaxError) -> [JSON] {
        try enter(depth)
        var elements: [JSON] = []
        if current == UInt8(ascii: "]") {
            position += 1
            return elements
        }
        repeat {
            elements.append(try value(depth: depth + 1))
        } while try goesOn(
            UInt8(ascii: "]"), "a comma or ] was expected")
        return elements
    }

    private mutating func object(depth: Int) throws(JSONSyntaxError) -> JSONObject {
        try enter(depth)
        var object = JSONObject()
        if current == UInt8(ascii: "}") {
            position += 1
            return object
        }
        repeat {
            skipSpace()
            guard current == UInt8(ascii: "\"") else { throw error("a key in quotes was expected") }
            let key = try string()
            skipSpace()
            guard current == UInt8(ascii: ":") else { throw error("a colon was expected") }
            position += 1
            object[key] = try value(depth: depth + 1)
        } while try goesOn(UInt8(ascii: "}"), "a comma or } was expected")
        return object
    }

    // MARK: Strings

    /// A string, its opening quote at the position.
    private mutating func string() throws(JSONSyntaxError) -> String {
        position += 1
        let start = position
        while let byte = current {
            switch byte {
            case UInt8(ascii: "\""):
                defer { position += 1 }
                return try text(bytes[start..<position], from: start)
            case UInt8(ascii: "\\"):
                return try escapedString(from: start)
            case 0..<0x20:
                throw error("a string bears a raw control character")
            default:
                position += 1
            }
        }
        throw error("a string does not end")
    }

    private func text(
        _ content: Slice<UnsafeRawBufferPointer>, from start: Int
    ) throws(JSONSyntaxError) -> String {
        guard let text = String(validating: content, as: UTF8.self) else {
            throw JSONSyntaxError(offset: start, reason: "a string is not valid UTF-8")
        }
        return text
    }

    /// A string that bears an escape, at the position; its content started at `start`.
    private mutating func escapedString(from start: Int) throws(JSONSyntaxError) -> String {
        var content = Array(bytes[start..<position])
        while let byte = current {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                guard let text = String(validating: content, as: UTF8.self) else {
                    throw JSONSyntaxError(offset: start, reason: "a string is not valid UTF-8")
                }
                return text
            case UInt8(ascii: "\\"):
                try escape(into: &content)
            case 0..<0x20:
                throw error("a string bears a raw control character")
            default:
                content.append(byte)
                position += 1
            }
        }
        throw error("a string does not end")
    }

    private mutating func escape(into content: inout [UInt8]) throws(JSONSyntaxError) {
        guard position + 1 < bytes.count else { throw error("a string does not end") }
        let kind = bytes[position + 1]
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(kind)
        case UInt8(ascii: "b"): content.append(0x08)
        case UInt8(ascii: "f"): content.append(0x0C)
        case UInt8(ascii: "n"): content.append(0x0A)
        case UInt8(ascii: "r"): content.append(0x0D)
        case UInt8(ascii: "t"): content.append(0x09)
        case UInt8(ascii: "u"):
            content.append(contentsOf: String(Character(try unicodeEscape())).utf8)
            return
        default: throw error("an unknown escape")
        }
        position += 2
    }

    /// A `\uXXXX`, or a pair of them, at the position.
    private mutating func unicodeEscape() throws(JSONSyntaxError) -> Unicode.Scalar {
        let high = try hexUnit()
        if let scalar = Unicode.Scalar(high) { return scalar }
        guard high < 0xDC00, current == UInt8(ascii: "\\"), position + 1 < bytes.count,
            bytes[position + 1] == UInt8(ascii: "u")
        else { throw error("a lone surrogate") }
        let low = try hexUnit()
        guard (0xDC00...0xDFFF).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (high & 0x3FF) << 10 + (low & 0x3FF))
        else { throw error("a lone surrogate") }
        return scalar
    }

    private mutating func hexUnit() throws(JSONSyntaxError) -> UInt32 {
        guard position + 6 <= bytes.count else { throw error("an escape is not whole") }
        var unit: UInt32 = 0
        for byte in bytes[position + 2..<position + 6] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else {
                throw error("an escape is not whole")
            }
            unit = unit << 4 | UInt32(digit)
        }
        position += 6
        return unit
    }
}
