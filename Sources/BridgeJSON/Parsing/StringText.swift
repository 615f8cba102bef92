/// The inside of a JSON string: finding its end, checking it, and reading its escapes.
enum StringText {
    /// Goes from the first byte of a string's content to its closing quote, and checks all that lies between: no raw
    /// control characters, whole escapes, no lone surrogates, valid UTF-8.
    ///
    /// - Parameter position: where it stopped, also where it throws.
    /// - Returns: whether the string bears escapes.
    static func skip(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) throws(JSONSyntaxError) -> Bool {
        var isEscaped = false
        while true {
            skipPlain(bytes, &position)
            guard position < bytes.count else { throw error(position, "a string does not end") }
            switch bytes[position] {
            case UInt8(ascii: "\""):
                return isEscaped
            case UInt8(ascii: "\\"):
                isEscaped = true
                _ = try escape(bytes, &position)
            case 0..<0x20:
                throw error(position, "a string bears a raw control character")
            case 0x80...:
                try skipSequence(bytes, &position)
            default:
                position += 1
            }
        }
    }

    private static func error(_ offset: Int, _ reason: String) -> JSONSyntaxError {
        JSONSyntaxError(offset: offset, reason: reason)
    }

    /// Goes on to a byte that is no plain ASCII, eight bytes at a time; or to the last seven bytes of the text.
    @inline(__always)
    private static func skipPlain(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) {
        while position + 8 <= bytes.count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            let special = PlainText.specialBytes(word) | word & PlainText.highBits
            guard special == 0 else {
                position += special.trailingZeroBitCount / 8
                return
            }
            position += 8
        }
    }

    /// Goes behind one character beyond ASCII. Overlong forms, surrogates and what lies beyond U+10FFFF are refused:
    /// they differ from valid UTF-8 in the second byte, whose range the first one narrows.
    private static func skipSequence(
        _ bytes: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(JSONSyntaxError) {
        let (count, second): (Int, ClosedRange<UInt8>)
        switch bytes[position] {
        case 0xC2...0xDF: (count, second) = (2, 0x80...0xBF)
        case 0xE0: (count, second) = (3, 0xA0...0xBF)
        case 0xED: (count, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: (count, second) = (3, 0x80...0xBF)
        case 0xF0: (count, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (count, second) = (4, 0x80...0xBF)
        case 0xF4: (count, second) = (4, 0x80...0x8F)
        default: throw error(position, "a string is not valid UTF-8")
        }
        guard position + count <= bytes.count, second.contains(bytes[position + 1]) else {
            throw error(position, "a string is not valid UTF-8")
        }
        for index in position + 2..<max(position + count, position + 2) where bytes[index] & 0xC0 != 0x80 {
            throw error(position, "a string is not valid UTF-8")
        }
        position += count
    }

    // MARK: Escapes

    /// The content of a string that has been checked, its escapes resolved.
    static func unescaped(_ content: UnsafeRawBufferPointer) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(content.count)
        var position = 0
        while position < content.count {
            guard content[position] == UInt8(ascii: "\\") else {
                text.append(content[position])
                position += 1
                continue
            }
            // The check went over this very text with the same function.
            guard let scalar = try? escape(content, &position) else { break }
            text.append(contentsOf: UTF8.encode(scalar)!)  // `!`: every scalar has a UTF-8 form
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads the escape at the position.
    private static func escape(
        _ bytes: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(JSONSyntaxError) -> Unicode.Scalar {
        guard position + 1 < bytes.count else { throw error(position, "a string does not end") }
        let kind = bytes[position + 1]
        let scalar: Unicode.Scalar
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): scalar = Unicode.Scalar(kind)
        case UInt8(ascii: "b"): scalar = "\u{08}"
        case UInt8(ascii: "f"): scalar = "\u{0C}"
        case UInt8(ascii: "n"): scalar = "\n"
        case UInt8(ascii: "r"): scalar = "\r"
        case UInt8(ascii: "t"): scalar = "\t"
        case UInt8(ascii: "u"): return try unicodeEscape(bytes, &position)
        default: throw error(position, "an unknown escape")
        }
        position += 2
        return scalar
    }

    /// Reads `\uXXXX`, or the two of a surrogate pair.
    private static func unicodeEscape(
        _ bytes: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(JSONSyntaxError) -> Unicode.Scalar {
        let start = position
        let high = try unit(bytes, &position)
        if let scalar = Unicode.Scalar(high) { return scalar }
        guard high < 0xDC00, position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
            bytes[position + 1] == UInt8(ascii: "u")
        else { throw error(start, "a lone surrogate") }
        let low = try unit(bytes, &position)
        guard (0xDC00...0xDFFF).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (high & 0x3FF) << 10 + (low & 0x3FF))
        else { throw error(start, "a lone surrogate") }
        return scalar
    }

    private static func unit(
        _ bytes: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(JSONSyntaxError) -> UInt32 {
        guard position + 6 <= bytes.count else { throw error(position, "an escape is not whole") }
        var unit: UInt32 = 0
        for byte in bytes[position + 2..<position + 6] {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: throw error(position, "an escape is not whole")
            }
            unit = unit << 4 | UInt32(digit)
        }
        position += 6
        return unit
    }
}

/// Eight bytes of a string looked at together.
enum PlainText {
    static let highBits: UInt64 = 0x8080_8080_8080_8080
    private static let ones: UInt64 = 0x0101_0101_0101_0101

    /// The high bit of bytes that JSON writes as escapes: control characters, quotes and backslashes. The lowest bit
    /// that is set is exact; those above it may be set by a borrow.
    @inline(__always)
    static func specialBytes(_ word: UInt64) -> UInt64 {
        let control = (word &- ones &* 0x20) & ~word
        let quote = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
        let backslash = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
        return (control | (quote &- ones) & ~quote | (backslash &- ones) & ~backslash) & highBits
    }
}
