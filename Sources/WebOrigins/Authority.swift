/// The part of a URL between `//` and the path: a host and an optional port (RFC 3986, section 3.2).
package struct Authority {
    /// The host as it is written.
    package let host: ArraySlice<UInt8>
    /// The port; `nil` if none is written.
    package let port: UInt16?

    /// Splits an authority into its parts.
    ///
    /// - Parameter bytes: The bytes between `//` and the next `/`, `?` or `#`.
    /// - Throws: The reason, if there is a user, a backslash, a space, a control character or an invalid port.
    package init(_ bytes: ArraySlice<UInt8>) throws(AddressRefusal) {
        for byte in bytes { try Self.check(byte) }
        var end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        if bytes.first == UInt8(ascii: "[") {
            guard let close = bytes.firstIndex(of: UInt8(ascii: "]")) else {
                throw AddressRefusal(.address, "the bracket of the IPv6 address is not closed")
            }
            end = close + 1
        }
        host = bytes[..<end]
        port = try Self.port(bytes[end...])
    }

    private static func check(_ byte: UInt8) throws(AddressRefusal) {
        switch byte {
        case UInt8(ascii: "@"):
            throw AddressRefusal(.userInformation, "the URL has a user before the host; leave user and password out")
        case UInt8(ascii: "\\"):
            throw AddressRefusal(.backslash, "the host has a backslash; write slashes")
        case UInt8(ascii: " "): throw AddressRefusal(.space, "the host has a space")
        case 0..<0x20, 0x7F: throw AddressRefusal(.controlCharacter, "the host has a control character")
        default: break
        }
    }

    /// Returns the port after a colon; `nil` if nothing follows the colon (RFC 3986, section 3.2.3).
    private static func port(_ bytes: ArraySlice<UInt8>) throws(AddressRefusal) -> UInt16? {
        guard let colon = bytes.first else { return nil }
        guard colon == UInt8(ascii: ":") else {
            throw AddressRefusal(.form, "something other than a port follows the IPv6 address")
        }
        guard bytes.count > 1 else { return nil }
        var number: UInt32 = 0
        for byte in bytes.dropFirst() {
            guard case UInt8(ascii: "0")...UInt8(ascii: "9") = byte, number <= 65535 else { throw wrongPort }
            number = number * 10 + UInt32(byte - UInt8(ascii: "0"))
        }
        guard let port = UInt16(exactly: number), port > 0 else { throw wrongPort }
        return port
    }

    private static let wrongPort = AddressRefusal(.port, "the port is not a number from 1 to 65535")
}
