/// Bytes as text in base 64, with padding: RFC 4648, section 4. Any thread.
public enum Base64Coding {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")
    /// What each byte stands for; 0xFF: it is no digit.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 0xFF, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }()

    /// How long the text of so many bytes is.
    public static func textBytes(of count: Int) -> Int { (count + 2) / 3 * 4 }

    /// Appends the text of bytes.
    public static func encode(_ bytes: UnsafeRawBufferPointer, to text: inout [UInt8]) {
        let start = text.count
        text.append(contentsOf: repeatElement(padding, count: textBytes(of: bytes.count)))
        text.withUnsafeMutableBufferPointer { text in
            digits.withUnsafeBufferPointer { digits in
                var position = start
                var index = 0
                while index + 2 < bytes.count {
                    let group = Int(bytes[index]) << 16 | Int(bytes[index + 1]) << 8 | Int(bytes[index + 2])
                    text[position] = digits[group >> 18]
                    text[position + 1] = digits[group >> 12 & 63]
                    text[position + 2] = digits[group >> 6 & 63]
                    text[position + 3] = digits[group & 63]
                    index += 3
                    position += 4
                }
                guard index < bytes.count else { return }
                let second = index + 1 < bytes.count ? Int(bytes[index + 1]) : 0
                let group = Int(bytes[index]) << 16 | second << 8
                text[position] = digits[group >> 18]
                text[position + 1] = digits[group >> 12 & 63]
                if index + 1 < bytes.count { text[position + 2] = digits[group >> 6 & 63] }
            }
        }
    }

    /// The bytes of a text; nil: it is no base 64. Each sequence of bytes has one text: padding is not left out, and
    /// the bits that stand for nothing are zero.
    public static func decode(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        let padded = text.suffix(2).reversed().prefix { $0 == padding }.count
        let digitCount = text.count - padded
        let rest = digitCount % 4
        var isGood = true
        let bytes = [UInt8](unsafeUninitializedCapacity: digitCount * 3 / 4) { bytes, count in
            count = digitCount * 3 / 4
            values.withUnsafeBufferPointer { values in
                var position = 0
                var index = 0
                // A bit above the six that a digit has shows that one of them was none.
                var seen: UInt8 = 0
                while index + 4 <= digitCount {
                    let (first, second) = (values[Int(text[index])], values[Int(text[index + 1])])
                    let (third, fourth) = (values[Int(text[index + 2])], values[Int(text[index + 3])])
                    seen |= first | second | third | fourth
                    bytes[position] = first << 2 | second >> 4
                    bytes[position + 1] = second << 4 | third >> 2
                    bytes[position + 2] = third << 6 | fourth
                    position += 3
                    index += 4
                }
                if rest > 0 {
                    let (first, second) = (values[Int(text[index])], values[Int(text[index + 1])])
                    let third = rest == 3 ? values[Int(text[index + 2])] : 0
                    seen |= first | second | third
                    bytes[position] = first << 2 | second >> 4
                    if rest == 3 { bytes[position + 1] = second << 4 | third >> 2 }
                    isGood = (rest == 3 ? third & 3 : second & 15) == 0
                }
                isGood = isGood && seen < 64
            }
        }
        return isGood ? bytes : nil
    }
}
