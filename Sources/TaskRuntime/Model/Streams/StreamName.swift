/// The name of a stream: 128 random bits, which cannot be guessed. Written as `stream:` and 32 hexadecimal digits.
struct StreamName: Hashable {
    private let high: UInt64
    private let low: UInt64

    private static let beginning = Array("stream:".utf8)
    private static let digits = Array("0123456789abcdef".utf8)

    /// Creates a new random name.
    init(using generator: inout some RandomNumberGenerator) {
        high = generator.next()
        low = generator.next()
    }

    /// Parses a name; `nil` if the text is not a stream name. Only lowercase digits are valid: a name has one spelling.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == Self.beginning.count + 32, bytes.starts(with: Self.beginning),
            let high = Self.number(bytes[7..<23]), let low = Self.number(bytes[23...])
        else { return nil }
        (self.high, self.low) = (high, low)
    }

    private static func number(_ text: ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for byte in text {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return number
    }

    /// The name as it is written in messages.
    var text: String {
        let digits = [high, low].flatMap { half in
            stride(from: 60, through: 0, by: -4).map { Self.digits[Int(half >> UInt64($0) & 15)] }
        }
        return String(decoding: Self.beginning + digits, as: UTF8.self)
    }
}
