/// Bytes as text in base 64, with padding: RFC 4648, section 4. Any thread.
///
/// Three bytes are looked up at a time, in tables that fit into the first cache: bytes of streams come this way.
public enum Base64Coding {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    /// The two digits of each number of twelve bits, as they lie in memory.
    private static let digitPairs: [UInt16] = (0..<4096).map { number in
        UInt16(littleEndian: UInt16(digits[number >> 6]) | UInt16(digits[number & 63]) << 8)
    }

    /// What each byte of a text adds to the three bytes of its group, the first in the lowest bits: 256 numbers for each
    /// of the four places. A byte that is no digit sets ``noDigit``.
    private static let groupParts: [UInt32] = {
        var parts = [UInt32](repeating: noDigit, count: 4 * 256)
        for (value, digit) in digits.enumerated() {
            let value = UInt32(value)
            parts[Int(digit)] = value << 2
            parts[256 + Int(digit)] = value >> 4 | (value & 15) << 12
            parts[512 + Int(digit)] = (value >> 2) << 8 | (value & 3) << 22
            parts[768 + Int(digit)] = value << 16
        }
        return parts
    }()
    private static let noDigit: UInt32 = 1 << 24

    /// How long the text of so many bytes is.
    public static func textBytes(of count: Int) -> Int { (count + 2) / 3 * 4 }

    /// Appends the text of bytes.
    public static func encode(_ bytes: UnsafeRawBufferPointer, to text: inout [UInt8]) {
        let start = text.count
        text.append(contentsOf: repeatElement(padding, count: textBytes(of: bytes.count)))
        text.withUnsafeMutableBytes { text in
            digitPairs.withUnsafeBufferPointer {
                encode(bytes, to: UnsafeMutableRawBufferPointer(rebasing: text[start...]), $0)
            }
        }
    }

    /// - Parameter text: Padding, as long as the text of the bytes.
    private static func encode(
        _ bytes: UnsafeRawBufferPointer, to text: UnsafeMutableRawBufferPointer, _ pairs: UnsafeBufferPointer<UInt16>
    ) {
        var (index, position) = (0, 0)
        // A group is loaded as four bytes.
        while index &+ 4 <= bytes.count {
            let group = Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self)) >> 8)
            text.storeBytes(of: pairs[group >> 12], toByteOffset: position, as: UInt16.self)
            text.storeBytes(of: pairs[group & 4095], toByteOffset: position &+ 2, as: UInt16.self)
            index &+= 3
            position &+= 4
        }
        guard index < bytes.count else { return }
        let rest = bytes.count - index
        let group = (0..<rest).reduce(0) { $0 | Int(bytes[index + $1]) << (16 - 8 * $1) }
        text.storeBytes(of: pairs[group >> 12], toByteOffset: position, as: UInt16.self)
        if rest > 1 { text[position + 2] = digits[group >> 6 & 63] }
        if rest > 2 { text[position + 3] = digits[group & 63] }
    }

    /// The bytes of a text; nil: it is no base 64. Each sequence of bytes has one text: padding is not left out, and
    /// the bits that stand for nothing are zero.
    public static func decode(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        let padded = text.suffix(2).reversed().prefix { $0 == padding }.count
        let digitCount = text.count - padded
        var isGood = true
        let bytes = [UInt8](unsafeUninitializedCapacity: digitCount * 3 / 4) { bytes, count in
            count = digitCount * 3 / 4
            groupParts.withUnsafeBufferPointer { parts in
                isGood = decode(text, digitCount, to: UnsafeMutableRawBufferPointer(bytes), parts)
            }
        }
        return isGood ? bytes : nil
    }

    /// - Returns: whether all of the digits are some, and the last one has no bits that stand for nothing.
    private static func decode(
        _ text: UnsafeRawBufferPointer, _ digitCount: Int, to bytes: UnsafeMutableRawBufferPointer,
        _ parts: UnsafeBufferPointer<UInt32>
    ) -> Bool {
        func part(_ place: Int, _ index: Int) -> UInt32 { parts[place << 8 | Int(text[index])] }
        func store(_ group: UInt32, _ count: Int, at position: Int) {
            for place in 0..<count { bytes[position + place] = UInt8(truncatingIfNeeded: group >> UInt32(8 * place)) }
        }
        var (index, position, seen) = (0, 0, UInt32(0))
        // A group is stored as four bytes, of which the next group overwrites the last. Sums of positions in a buffer do
        // not overflow.
        while index &+ 8 <= digitCount {
            let places = UInt32(littleEndian: text.loadUnaligned(fromByteOffset: index, as: UInt32.self))
            let group =
                parts[Int(places & 255)] | parts[Int(places >> 8 & 255) | 256] | parts[Int(places >> 16 & 255) | 512]
                | parts[Int(places >> 24) | 768]
            seen |= group
            bytes.storeBytes(of: group.littleEndian, toByteOffset: position, as: UInt32.self)
            index &+= 4
            position &+= 3
        }
        while index < digitCount {
            let count = min(4, digitCount - index)
            let group = (0..<count).reduce(0) { $0 | part($1, index + $1) }
            seen |= group
            store(group, count - 1, at: position)
            // What the digits have beyond the bytes.
            if count < 4, group >> UInt32(8 * (count - 1)) != 0 { return false }
            index += 4
            position += 3
        }
        return seen < noDigit
    }
}
