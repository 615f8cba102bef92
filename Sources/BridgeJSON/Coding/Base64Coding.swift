internal import CBase64

/// Bytes as text in base 64, with padding: RFC 4648, section 4. Any thread.
public enum Base64Coding {
    private static let padding = UInt8(ascii: "=")

    /// Returns the length of the text of `count` bytes.
    public static func textBytes(of count: Int) -> Int { (count + 2) / 3 * 4 }

    /// Appends the text of bytes.
    public static func encode(_ bytes: UnsafeRawBufferPointer, to text: inout [UInt8]) {
        // Without an address there are no bytes.
        guard let first = bytes.baseAddress else { return }
        let start = text.count
        text.append(contentsOf: repeatElement(padding, count: textBytes(of: bytes.count)))
        text.withUnsafeMutableBufferPointer { text in
            let place = UnsafeMutableBufferPointer(rebasing: text[start...]).baseAddress
            trestle_base64_encode(first.assumingMemoryBound(to: UInt8.self), bytes.count, place)
        }
    }

    /// Returns the bytes of a text; nil if it is not base 64. Each sequence of bytes has exactly one text: padding is
    /// required, and the unused bits are zero.
    public static func decode(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        let padded = text.suffix(2).reversed().prefix { $0 == padding }.count
        let digitCount = text.count - padded
        guard let first = text.baseAddress else { return [] }
        var isGood = true
        let bytes = [UInt8](unsafeUninitializedCapacity: digitCount * 3 / 4) { bytes, count in
            count = digitCount * 3 / 4
            isGood = trestle_base64_decode(first.assumingMemoryBound(to: UInt8.self), digitCount, bytes.baseAddress)
        }
        return isGood ? bytes : nil
    }
}
