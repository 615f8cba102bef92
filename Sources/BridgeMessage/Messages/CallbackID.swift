public import BridgeJSON

/// The id of a call, borrowed from its line: a string of 1 to 128 bytes, or an integer.
///
/// It is returned exactly as it was received (``text``). Two ids are equal if their meaning is equal: `"a"` and
/// `"\u0061"` are one id, `1` and `"1"` are two.
public struct CallbackID {
    /// The maximum length of an id in bytes, without escapes: enough for any UUID or counter, and cheap to store.
    public static let maximumBytes = 128

    /// The id as written on the line; a string includes its quotes.
    public let text: UnsafeRawBufferPointer
    /// The meaning of the id: a string's unescaped content, or the integer's digits.
    public let content: UnsafeRawBufferPointer
    /// Whether it is a string.
    public let isString: Bool
    /// The dialect of its message: ids of different dialects are different.
    public let dialect: DialectID

    init(text: UnsafeRawBufferPointer, content: UnsafeRawBufferPointer, isString: Bool, dialect: DialectID) {
        self.text = text
        self.content = content
        self.isString = isString
        self.dialect = dialect
    }

    /// The description of a valid id, as the end of a sentence.
    static let shape = "a string of 1 to \(maximumBytes) bytes, or an integer"

    /// Passes an id in the form of a value to `body`, borrowed.
    public static func withID<R>(_ json: JSON, in dialect: DialectID, _ body: (CallbackID) -> R) -> R {
        let text = json.bytes
        let content = json.stringValue.map { Array($0.utf8) } ?? text
        return text.withUnsafeBytes { text in
            content.withUnsafeBytes { content in
                body(CallbackID(text: text, content: content, isString: json.stringValue != nil, dialect: dialect))
            }
        }
    }

    /// A hash for tables, the same for equal ids. FNV-1a, 64 bits, with a start value for each kind.
    public var hash: UInt64 { Self.hash(of: content, isString: isString) }

    /// The integer; nil if the id is not an unsigned integer of 64 bits.
    public var number: UInt64? {
        guard !isString, content.count <= 20 else { return nil }
        var number: UInt64 = 0
        if content.count < 20, content.first != UInt8(ascii: "-") {
            // The dialect has checked that all bytes are digits; they are too few to exceed 64 bits.
            for byte in content { number = number &* 10 &+ UInt64(byte &- UInt8(ascii: "0")) }
            return number
        }
        for byte in content {
            let digit = byte &- UInt8(ascii: "0")
            let (scaled, isOver) = number.multipliedReportingOverflow(by: 10)
            let (sum, isBeyond) = scaled.addingReportingOverflow(UInt64(digit))
            guard digit < 10, !isOver, !isBeyond else { return nil }
            number = sum
        }
        return number
    }

    /// Returns the hash of an id with this content and kind.
    public static func hash(of content: UnsafeRawBufferPointer, isString: Bool) -> UInt64 {
        var hash: UInt64 = isString ? 0xcbf2_9ce4_8422_2325 : 0x9ae1_6a3b_2f90_404f
        for byte in content {
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
        }
        // Both halves are combined, because tables use the lower bits, which alone do not depend on all bits of every
        // byte.
        return hash ^ hash >> 32
    }
}

extension CallbackID {
    /// Reads an id from a JSON value whose grammar has been checked; nil if it is not an id.
    @inline(__always)
    init?(
        _ text: UnsafeRawBufferPointer, isEscaped: Bool, dialect: DialectID = .native, _ scratch: inout EscapeScratch
    ) {
        if text.first == UInt8(ascii: "\"") {
            let quoted = text.slice(1, text.count - 2)
            let content = isEscaped ? scratch.unescape(quoted) : quoted
            guard content.count > 0, content.count <= Self.maximumBytes else { return nil }
            self.init(text: text, content: content, isString: true, dialect: dialect)
        } else {
            let digits = text.first == UInt8(ascii: "-") ? text.slice(1, text.count - 1) : text
            guard digits.count > 0, digits.count <= Self.maximumBytes else { return nil }
            guard Self.areDigits(digits) else { return nil }
            self.init(text: text, content: text, isString: false, dialect: dialect)
        }
    }

    /// Whether all bytes are digits; there must be at least one. Tests four at a time; some of the last may be tested
    /// twice.
    @inline(__always)
    private static func areDigits(_ text: UnsafeRawBufferPointer) -> Bool {
        guard text.count >= 4 else { return text.allSatisfy { $0 &- UInt8(ascii: "0") <= 9 } }
        var offset = 0
        while offset < text.count &- 4 {
            guard areFourDigits(text.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) else { return false }
            offset &+= 4
        }
        return areFourDigits(text.loadUnaligned(fromByteOffset: text.count &- 4, as: UInt32.self))
    }

    /// The upper half of a digit's byte is 3, also after 6 is added.
    @inline(__always)
    private static func areFourDigits(_ word: UInt32) -> Bool {
        word & 0xF0F0_F0F0 == 0x3030_3030 && (word &+ 0x0606_0606) & 0xF0F0_F0F0 == 0x3030_3030
    }

    /// Reads a JSON-RPC id: a string, which may be empty, any number, or null. Nil for any other value.
    init?(
        rpc text: UnsafeRawBufferPointer, isEscaped: Bool, dialect: DialectID, _ scratch: inout EscapeScratch
    ) {
        guard let first = text.first, text.count <= Self.maximumBytes + 2 else { return nil }
        switch first {
        case UInt8(ascii: "\""):
            let quoted = text.slice(1, text.count - 2)
            let content = isEscaped ? scratch.unescape(quoted) : quoted
            self.init(text: text, content: content, isString: true, dialect: dialect)
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "t"), UInt8(ascii: "f"): return nil
        default: self.init(text: text, content: text, isString: false, dialect: dialect)
        }
    }
}
