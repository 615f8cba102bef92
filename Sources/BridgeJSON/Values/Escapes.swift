/// The escapes of JSON's strings, turned back into what they stand for.
enum Escapes {
    /// The four hexadecimal digits at an address; nil where they are none.
    static func hexUnit(_ digits: UnsafeRawPointer) -> UInt16? {
        var unit: UInt16 = 0
        for index in 0..<4 {
            let byte = digits.load(fromByteOffset: index, as: UInt8.self)
            let value: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = byte - UInt8(ascii: "A") + 10
            default: return nil
            }
            unit = unit << 4 | UInt16(value)
        }
        return unit
    }

    /// The content of a string that a reader has checked.
    static func resolve(_ content: UnsafeRawBufferPointer) -> String {
        // No escape stands for more bytes than it has.
        String(unsafeUninitializedCapacity: content.count) { output in
            var written = 0
            var index = 0
            while index < content.count {
                if content[index] != UInt8(ascii: "\\") {
                    output[written] = content[index]
                    written += 1
                    index += 1
                } else if content[index + 1] != UInt8(ascii: "u") {
                    output[written] = simple(content[index + 1])
                    written += 1
                    index += 2
                } else {
                    for byte in UTF8.encode(scalar(content, &index)) ?? UTF8.encodedReplacementCharacter {
                        output[written] = byte
                        written += 1
                    }
                }
            }
            return written
        }
    }

    private static func simple(_ letter: UInt8) -> UInt8 {
        switch letter {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: letter
        }
    }

    /// The scalar of the `\uXXXX`, or the pair of them, at an index, which goes behind it.
    private static func scalar(_ content: UnsafeRawBufferPointer, _ index: inout Int) -> Unicode.Scalar {
        // `!` throughout: the reader has seen the digits, and that halves come in pairs.
        let high = UInt32(hexUnit(content.baseAddress! + index + 2)!)
        index += 6
        if let scalar = Unicode.Scalar(high) { return scalar }
        let low = UInt32(hexUnit(content.baseAddress! + index + 2)!)
        index += 6
        return Unicode.Scalar(0x10000 + (high & 0x3FF) << 10 + (low & 0x3FF))!
    }
}

/// Whether bytes are UTF-8: no overlong forms, no surrogates, nothing cut off.
func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
    (try? UTF8Span(validating: bytes.bindMemory(to: UInt8.self).span)) != nil
}

/// Whether the same bytes stand at two places.
@inline(__always)
func areEqual(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ count: Int) -> Bool {
    var index = 0
    while count - index >= 8 {
        let difference =
            left.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            ^ right.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        if difference != 0 { return false }
        index += 8
    }
    while index < count {
        if left.load(fromByteOffset: index, as: UInt8.self) != right.load(fromByteOffset: index, as: UInt8.self) {
            return false
        }
        index += 1
    }
    return true
}

/// Where the next quote, backslash or control character stands, or `end`; looked for eight bytes at a time.
///
/// - Parameter isASCII: Made false where other characters stand before that. Or behind it: it is a hint.
@inline(__always)
func plainEnd(of base: UnsafeRawPointer, from start: Int, to end: Int, _ isASCII: inout Bool) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highs = ones << 7
    var position = start
    while end - position >= 8 {
        let word = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: position, as: UInt64.self))
        if word & highs != 0 { isASCII = false }
        // The lowest byte whose high bit this leaves set is one of those; above it a borrow may set others.
        let quotes = (word ^ ones &* UInt64(UInt8(ascii: "\""))) &- ones
        let backslashes = (word ^ ones &* UInt64(UInt8(ascii: "\\"))) &- ones
        let controls = word &- ones &* 0x20
        let found = (quotes | backslashes | controls) & ~word & highs
        if found != 0 { return position + found.trailingZeroBitCount >> 3 }
        position += 8
    }
    while position < end {
        let byte = base.load(fromByteOffset: position, as: UInt8.self)
        if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return position }
        if byte >= 0x80 { isASCII = false }
        position += 1
    }
    return end
}
