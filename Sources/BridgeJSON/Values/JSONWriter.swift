/// Writes parts of JSON as text.
public enum JSONText {
    private static let hexDigits = Array("0123456789abcdef".utf8)

    /// Appends a string in quotes, with only the escapes that JSON requires.
    public static func appendQuoted(_ string: String, to output: inout [UInt8]) {
        quote(string, to: &output)
    }

    /// Appends a text in the same way. The caller guarantees that it is UTF-8.
    public static func appendQuoted(utf8 text: UnsafeRawBufferPointer, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        appendContent(text, to: &output)
        output.append(UInt8(ascii: "\""))
    }

    /// Returns the position of the next quote, backslash or control character of a text, or its end.
    ///
    /// - Parameter isASCII: set to false if there are non-ASCII characters before that position, or shortly after it:
    ///   it is only a hint.
    public static func endOfPlainText(
        in text: UnsafeRawBufferPointer, from start: Int, _ isASCII: inout Bool
    ) -> Int {
        guard let base = text.baseAddress else { return start }
        return plainEnd(of: base, from: start, to: text.count, &isASCII)
    }

    @inline(__always)
    static func quote(_ string: String, to output: inout some ByteSink & ~Copyable) {
        var string = string
        string.withUTF8 { bytes in
            output.append(UInt8(ascii: "\""))
            appendContent(UnsafeRawBufferPointer(bytes), to: &output)
            output.append(UInt8(ascii: "\""))
        }
    }

    @inline(__always)
    private static func appendContent(_ bytes: UnsafeRawBufferPointer, to output: inout some ByteSink & ~Copyable) {
        guard let base = bytes.baseAddress else { return }
        var isASCII = true
        let plain = plainEnd(of: base, from: 0, to: bytes.count, &isASCII)
        output.append(contentsOf: UnsafeRawBufferPointer(start: base, count: plain))
        if plain < bytes.count { appendEscaped(UnsafeRawBufferPointer(rebasing: bytes[plain...]), to: &output) }
    }

    /// Appends bytes that begin with a byte to be escaped.
    @inline(never)
    private static func appendEscaped(_ bytes: UnsafeRawBufferPointer, to output: inout some ByteSink & ~Copyable) {
        // `!`: there is at least this byte.
        let base = bytes.baseAddress!
        var isASCII = true
        var position = 0
        while position < bytes.count {
            appendEscape(bytes[position], to: &output)
            let end = plainEnd(of: base, from: position + 1, to: bytes.count, &isASCII)
            output.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[(position + 1)..<end]))
            position = end
        }
    }

    /// Appends a key with its colon. Returns a hash of the key; equal keys have equal hashes.
    @inline(__always)
    static func writeKey(_ key: String, to output: inout GrowingBuffer<UInt8>) -> UInt64 {
        var key = key
        return key.withUTF8 { bytes in
            let bytes = UnsafeRawBufferPointer(bytes)
            output.append(UInt8(ascii: "\""))
            appendContent(bytes, to: &output)
            let end = output.reserve(2)
            end[0] = UInt8(ascii: "\"")
            end[1] = UInt8(ascii: ":")
            output.advance(2)
            return hash(bytes)
        }
    }

    /// Fast, but not suitable for tables: a client can choose two keys with the same hash.
    @inline(__always)
    private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = UInt64(bytes.count)
        var index = 0
        while bytes.count - index >= 8 {
            hash = (hash ^ bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 32
            index += 8
        }
        if index < bytes.count, let base = bytes.baseAddress {
            hash = (hash ^ shortWord(base + index, bytes.count - index, padding: 0)) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 32
        }
        return hash
    }

    /// Appends a number's text.
    static func write(digits: String, to output: inout some ByteSink & ~Copyable) {
        var digits = digits
        digits.withUTF8 { output.append(contentsOf: UnsafeRawBufferPointer($0)) }
    }

    /// Appends an integer.
    @inline(__always)
    static func write<T: FixedWidthInteger>(_ value: T, to output: inout GrowingBuffer<UInt8>) {
        // The maximum number of digits of 64 bits, and the sign.
        let maximum = 21
        guard T.bitWidth <= 64 else { return write(digits: String(value), to: &output) }
        var magnitude = UInt64(value.magnitude)
        let room = output.reserve(maximum)
        var first = maximum
        repeat {
            first -= 1
            room[first] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: magnitude % 10)
            magnitude /= 10
        } while magnitude > 0
        if value < 0 {
            first -= 1
            room[first] = UInt8(ascii: "-")
        }
        room.update(from: room + first, count: maximum - first)
        output.advance(maximum - first)
    }

    private static func appendEscape(_ byte: UInt8, to output: inout some ByteSink & ~Copyable) {
        output.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: output.append(UInt8(ascii: "b"))
        case 0x0C: output.append(UInt8(ascii: "f"))
        case 0x0A: output.append(UInt8(ascii: "n"))
        case 0x0D: output.append(UInt8(ascii: "r"))
        case 0x09: output.append(UInt8(ascii: "t"))
        case 0..<0x20:
            output.append(literal: "u00")
            output.append(hexDigits[Int(byte >> 4)])
            output.append(hexDigits[Int(byte & 15)])
        default: output.append(byte)
        }
    }
}

extension JSON {
    /// Appends the value as one line without any white space.
    public func write(to output: inout [UInt8]) { writeText(to: &output) }

    func writeText(to output: inout some ByteSink & ~Copyable) {
        switch self {
        case .null: output.append(literal: "null")
        case .bool(true): output.append(literal: "true")
        case .bool(false): output.append(literal: "false")
        case .number(let number): JSONText.write(digits: number.text, to: &output)
        case .string(let string): JSONText.quote(string, to: &output)
        case .array(let elements): Self.write(elements, to: &output)
        case .object(let object): Self.write(object, to: &output)
        }
    }

    private static func write(_ elements: [JSON], to output: inout some ByteSink & ~Copyable) {
        output.append(UInt8(ascii: "["))
        var isFirst = true
        for element in elements {
            if !isFirst { output.append(UInt8(ascii: ",")) }
            isFirst = false
            element.writeText(to: &output)
        }
        output.append(UInt8(ascii: "]"))
    }

    private static func write(_ object: JSONObject, to output: inout some ByteSink & ~Copyable) {
        output.append(UInt8(ascii: "{"))
        var isFirst = true
        for member in object {
            if !isFirst { output.append(UInt8(ascii: ",")) }
            isFirst = false
            JSONText.quote(member.key, to: &output)
            output.append(UInt8(ascii: ":"))
            member.value.writeText(to: &output)
        }
        output.append(UInt8(ascii: "}"))
    }

    /// The value as text in one line.
    public var bytes: [UInt8] {
        var output: [UInt8] = []
        write(to: &output)
        return output
    }

    /// The value as text in one line.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}
