/// Decodes the escapes of JSON strings.
package enum Escapes {
    /// Returns the value of the four hexadecimal digits at an address; nil if they are not digits.
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

    /// Returns the decoded content of a string. Decoding stops at an invalid escape, which a reader has not accepted
    /// before.
    static func resolve(_ content: UnsafeRawBufferPointer) -> String {
        // No escape represents more bytes than it has.
        String(unsafeUninitializedCapacity: content.count) {
            resolve(content, into: UnsafeMutableRawBufferPointer($0))
        }
    }

    /// Writes the same as UTF-8.
    ///
    /// - Parameter output: has at least as many bytes as the content.
    /// - Returns: the number of bytes written.
    package static func resolve(
        _ content: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> Int {
        var written = 0
        var index = 0
        while index < content.count {
            let byte = content[index]
            if byte != UInt8(ascii: "\\") {
                output[written] = byte
                written += 1
                index += 1
                continue
            }
            guard let scalar = scalar(of: content, &index) else { break }
            for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
                output[written] = byte
                written += 1
            }
        }
        return written
    }

    /// Returns the character of the escape at an index, and moves the index after it; nil if the escape is invalid.
    static func scalar(of text: UnsafeRawBufferPointer, _ index: inout Int) -> Unicode.Scalar? {
        guard index + 1 < text.count else { return nil }
        let letter = text[index + 1]
        guard letter == UInt8(ascii: "u") else {
            index += 2
            return Unicode.Scalar(simple(letter))
        }
        guard let high = unit(of: text, &index) else { return nil }
        if let scalar = Unicode.Scalar(high) { return scalar }
        guard let low = unit(of: text, &index), UTF16.isLeadSurrogate(high), UTF16.isTrailSurrogate(low) else {
            return nil
        }
        return UTF16.decode(UTF16.EncodedScalar([high, low]))
    }

    private static func unit(of text: UnsafeRawBufferPointer, _ index: inout Int) -> UInt16? {
        guard index + 6 <= text.count, let base = text.baseAddress, let unit = hexUnit(base + index + 2) else {
            return nil
        }
        index += 6
        return unit
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
}

/// Whether bytes are UTF-8: no overlong forms, no surrogates, nothing incomplete.
func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
    (try? UTF8Span(validating: bytes.bindMemory(to: UInt8.self).span)) != nil
}

/// Whether the bytes at two addresses are equal.
@inline(__always)
func areEqual(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ count: Int) -> Bool {
    func word<Word: FixedWidthInteger & BitwiseCopyable>(_ at: UnsafeRawPointer, _ offset: Int, _: Word.Type) -> Word {
        at.loadUnaligned(fromByteOffset: offset, as: Word.self)
    }
    if count >= 8 {
        var index = 0
        while count - index > 8 {
            if word(left, index, UInt64.self) != word(right, index, UInt64.self) { return false }
            index += 8
        }
        // The last bytes; some of them are compared twice.
        return word(left, count - 8, UInt64.self) == word(right, count - 8, UInt64.self)
    }
    if count >= 4 {
        return word(left, 0, UInt32.self) == word(right, 0, UInt32.self)
            && word(left, count - 4, UInt32.self) == word(right, count - 4, UInt32.self)
    }
    for index in 0..<count where word(left, index, UInt8.self) != word(right, index, UInt8.self) { return false }
    return true
}

/// Returns the position of the next quote, backslash or control character, or `end`. Searches eight bytes at a time.
///
/// - Parameter isASCII: set to false if there are non-ASCII characters before that position, or shortly after it: it is
///   only a hint.
@inline(__always)
func plainEnd(of base: UnsafeRawPointer, from start: Int, to end: Int, _ isASCII: inout Bool) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highs = ones << 7
    // The lowest byte whose high bit is set in the result is one of those; above it a borrow may set other bits.
    func specials(_ word: UInt64) -> UInt64 {
        let quotes = (word ^ ones &* UInt64(UInt8(ascii: "\""))) &- ones
        let backslashes = (word ^ ones &* UInt64(UInt8(ascii: "\\"))) &- ones
        let controls = word &- ones &* 0x20
        return (quotes | backslashes | controls) & ~word & highs
    }
    var position = start
    while end - position >= 8 {
        let word = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: position, as: UInt64.self))
        if word & highs != 0 { isASCII = false }
        let found = specials(word)
        if found != 0 { return position + found.trailingZeroBitCount >> 3 }
        position += 8
    }
    if position == end { return end }
    let word = shortWord(base + position, end - position, padding: ones &* 0x20)
    if word & highs != 0 { isASCII = false }
    let found = specials(word)
    return found == 0 ? end : position + found.trailingZeroBitCount >> 3
}

/// Returns one to seven bytes, the first one lowest, and above them those of the padding.
@inline(__always)
func shortWord(_ base: UnsafeRawPointer, _ count: Int, padding: UInt64) -> UInt64 {
    func part<Part: FixedWidthInteger & BitwiseCopyable>(_ index: Int, _: Part.Type) -> UInt64 {
        UInt64(Part(littleEndian: base.loadUnaligned(fromByteOffset: index, as: Part.self))) &<< UInt64(index &* 8)
    }
    // The parts may overlap: the common bytes are the same.
    let word =
        count >= 4
        ? part(0, UInt32.self) | part(count &- 4, UInt32.self)
        : part(0, UInt8.self) | part(count &>> 1, UInt8.self) | part(count &- 1, UInt8.self)
    return word | padding &<< UInt64(count &* 8)
}
