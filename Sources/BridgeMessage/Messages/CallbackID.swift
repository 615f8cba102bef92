public import BridgeJSON

/// The id of a call, borrowed from the line that bore it: a string of 1 to 128 bytes, or an integer.
///
/// It is handed back exactly as it came (``text``), but two ids are the same when they mean the same: `"a"` and
/// `"\u0061"` are one id, `1` and `"1"` are two.
public struct CallbackID {
    /// Longest id in bytes, escapes resolved. Long enough for any UUID or counter, short enough to keep in flight.
    public static let maximumBytes = 128

    /// The id as it stood on the line, a string with its quotes.
    public let text: UnsafeRawBufferPointer
    /// What the id means: a string's unescaped content, or the integer's digits.
    public let content: UnsafeRawBufferPointer
    /// Whether it is a string.
    public let isString: Bool
    /// The dialect of its message: ids of different dialects are different ones.
    public let dialect: DialectID

    init(text: UnsafeRawBufferPointer, content: UnsafeRawBufferPointer, isString: Bool, dialect: DialectID) {
        self.text = text
        self.content = content
        self.isString = isString
        self.dialect = dialect
    }

    /// What an id has to be, as the end of a sentence.
    static let shape = "a string of 1 to \(maximumBytes) bytes, or an integer"

    /// Borrows an id that a message has as a value.
    public static func withID<R>(_ json: JSON, in dialect: DialectID, _ body: (CallbackID) -> R) -> R {
        let text = json.bytes
        let content = json.stringValue.map { Array($0.utf8) } ?? text
        return text.withUnsafeBytes { text in
            content.withUnsafeBytes { content in
                body(CallbackID(text: text, content: content, isString: json.stringValue != nil, dialect: dialect))
            }
        }
    }

    /// A number for hash tables, the same for ids that are the same. FNV-1a, 64 bits, started from the kind.
    public var hash: UInt64 { Self.hash(of: content, isString: isString) }

    /// The integer, where it is one of 64 bits without a sign.
    public var number: UInt64? {
        guard !isString, content.count <= 20 else { return nil }
        var number: UInt64 = 0
        if content.count < 20, content.first != UInt8(ascii: "-") {
            // Digits all of them, as the dialect has seen to, and too few to go beyond 64 bits.
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

    /// The hash of an id of this content and kind.
    public static func hash(of content: UnsafeRawBufferPointer, isString: Bool) -> UInt64 {
        var hash: UInt64 = isString ? 0xcbf2_9ce4_8422_2325 : 0x9ae1_6a3b_2f90_404f
        for byte in content {
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
        }
        // The halves folded: tables take the lower bits, which alone would not see all of every byte.
        return hash ^ hash >> 32
    }
}

extension CallbackID {
    /// Reads an id from a JSON value whose grammar has been checked; nil where it is no id.
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

    /// Whether all of at least one byte are digits. Four at a time, the last of them twice where need be.
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

    /// A digit has a 3 in the upper half of its byte, and still has with 6 more.
    @inline(__always)
    private static func areFourDigits(_ word: UInt32) -> Bool {
        word & 0xF0F0_F0F0 == 0x3030_3030 && (word &+ 0x0606_0606) & 0xF0F0_F0F0 == 0x3030_3030
    }

    /// An id of JSON-RPC: a string, also an empty one, any number, or null.
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
