/// The percent-encoding of the URL standard (section 1.3).
enum PercentEncoding {
    /// The parts of a URL, which differ in the bytes that they allow.
    enum Part {
        case path, query, fragment
    }

    /// Appends the bytes. A byte that the part does not allow becomes a percent sign and two digits. A percent sign
    /// stays unchanged, so that encoding the result again does not change it.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - part: The part of the URL that contains them.
    ///   - text: The text to which they are appended.
    static func append(_ bytes: some Sequence<UInt8>, in part: Part, to text: inout [UInt8]) {
        for byte in bytes {
            if bears(part, byte) {
                text.append(byte)
            } else {
                text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    private static func bears(_ part: Part, _ byte: UInt8) -> Bool {
        switch byte {
        case ...0x20, 0x7F..., UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"): false
        case UInt8(ascii: "#"): false
        case UInt8(ascii: "?"), UInt8(ascii: "^"), UInt8(ascii: "{"), UInt8(ascii: "}"): part != .path
        case UInt8(ascii: "`"): part == .query
        case UInt8(ascii: "'"): part != .query
        default: true
        }
    }
}
