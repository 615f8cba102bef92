/// Functions on the bytes of hosts and URLs.
package enum AddressBytes {
    /// Returns the value of a hexadecimal digit; `nil` for any other byte.
    ///
    /// - Parameter byte: The byte.
    package static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Returns the byte in lower case if it is an ASCII letter, otherwise the byte itself.
    ///
    /// - Parameter byte: The byte.
    package static func lowercased(_ byte: UInt8) -> UInt8 {
        if case UInt8(ascii: "A")...UInt8(ascii: "Z") = byte { byte | 0x20 } else { byte }
    }

    /// Returns whether the bytes begin with a text, in any case.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - text: The text, in lower case.
    package static func starts(_ bytes: some Collection<UInt8>, with text: String) -> Bool {
        bytes.lazy.map(lowercased).starts(with: text.utf8)
    }
}
