/// Decodes a URL after its scheme into the memory of a message's reader.
struct URLText {
    private let encoded: UnsafeRawBufferPointer
    private var index = 0
    /// As long as the encoded text: decoding never makes it longer.
    private let decoded: UnsafeMutableRawBufferPointer
    /// The number of decoded bytes so far.
    private(set) var written = 0
    /// Whether one of them was encoded and is not ASCII. The message itself is valid UTF-8; decoded bytes may be
    /// invalid.
    private var hasEncodedText = false

    init(_ encoded: UnsafeRawBufferPointer, _ reader: ForeignReader) {
        self.encoded = encoded
        decoded = reader.take(encoded.count)
    }

    /// Returns the next byte without decoding it; nil at the end.
    func peek() -> UInt8? { index < encoded.count ? encoded[index] : nil }

    /// Skips the next byte.
    mutating func skip() { index += 1 }

    /// Appends a byte. For each of them, at least one byte was skipped or decoded.
    @inline(__always)
    mutating func write(_ byte: UInt8) {
        decoded[written] = byte
        written += 1
    }

    /// Decodes the next byte.
    ///
    /// - Returns: False if `%` is not followed by two hexadecimal digits.
    @inline(__always)
    mutating func decode() -> Bool {
        let byte = encoded[index]
        index += 1
        guard byte == UInt8(ascii: "%") else {
            write(byte)
            return true
        }
        return decodeDigits()
    }

    private mutating func decodeDigits() -> Bool {
        guard index + 1 < encoded.count, let high = Self.digit(encoded[index]),
            let low = Self.digit(encoded[index + 1])
        else { return false }
        index += 2
        hasEncodedText = hasEncodedText || high > 7
        write(high << 4 | low)
        return true
    }

    /// Decodes a name or a value of a form, up to a byte or the pair's end.
    ///
    /// - Returns: The decoded bytes; nil if they cannot be decoded or are not UTF-8.
    mutating func decodeForm(upTo end: UInt8) -> UnsafeRawBufferPointer? {
        let start = written
        while true {
            copy { $0 == end || $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "%") }
            guard let byte = peek(), byte != end, byte != UInt8(ascii: "&") else { return part(from: start) }
            if byte == UInt8(ascii: "+") {
                skip()
                write(UInt8(ascii: " "))
            } else if !decode() {
                return nil
            }
        }
    }

    /// Copies bytes up to the first one for which `stops` returns true.
    @inline(__always)
    mutating func copy(until stops: (UInt8) -> Bool) {
        guard let source = encoded.baseAddress, let destination = decoded.baseAddress else { return }
        // Local variables stay in registers, whatever the stores change.
        let (start, end) = (index, encoded.count)
        let offset = written &- start
        var next = start
        while next < end {
            let byte = source.load(fromByteOffset: next, as: UInt8.self)
            if stops(byte) { break }
            destination.storeBytes(of: byte, toByteOffset: next &+ offset, as: UInt8.self)
            next &+= 1
        }
        index = next
        written = next &+ offset
    }

    /// Returns the bytes that were written from an offset on; nil if they are not UTF-8.
    func part(from start: Int) -> UnsafeRawBufferPointer? {
        let part = UnsafeRawBufferPointer(decoded).slice(start, written - start)
        return hasEncodedText && String(validating: part, as: UTF8.self) == nil ? nil : part
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
