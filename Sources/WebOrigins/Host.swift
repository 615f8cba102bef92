/// The host of a URL in its single canonical form: a name in lower-case ASCII without a trailing dot, an IPv4 address
/// as four decimal numbers, or an IPv6 address in brackets.
///
/// Equal hosts have equal texts, so a program that receives the text uses the host that was checked. A text that
/// another parser could read as an address, such as `0x7f.1` or `2130706433`, is refused. The initializers in this file
/// accept only ASCII; names in other scripts must be converted to A-labels first.
public struct Host: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length of a name in bytes: 255 on the wire (RFC 1035, section 2.3.4), without the first length byte
    /// and the root label.
    public static let maximumNameBytes = 253
    /// The maximum length of a label in bytes (RFC 1035, section 2.3.4).
    public static let maximumLabelBytes = 63

    /// The canonical text, as used in URLs; with brackets around IPv6.
    public let text: String
    /// The address; `nil` if the host is a name.
    public let address: IPAddress?

    /// The same as `text`.
    public var description: String { text }
    /// Whether the host is a name and not an address.
    public var isName: Bool { address == nil }

    /// Creates a host from an address.
    ///
    /// - Parameter address: The address.
    public init(address: IPAddress) {
        self.address = address
        if case .v6 = address { text = "[\(address.text)]" } else { text = address.text }
    }

    /// Parses a host from ASCII text.
    ///
    /// - Parameter text: A name, an IPv4 address as four decimal numbers, or an IPv6 address in brackets.
    /// - Throws: The reason, if the text is no host.
    public init(ascii text: some StringProtocol) throws(AddressRefusal) {
        guard text.utf8.count <= Self.maximumNameBytes + 1 else { throw Self.tooLong }
        try self.init(ascii: Array(text.utf8)[...])
    }

    /// Parses a host from bytes.
    ///
    /// - Parameter bytes: The bytes, in the form of the text of `init(ascii:)`.
    /// - Throws: The reason, if they are no host.
    package init(ascii bytes: ArraySlice<UInt8>) throws(AddressRefusal) {
        guard let first = bytes.first else { throw Self.emptyHost }
        if first == UInt8(ascii: "[") {
            try self.init(bracketed: bytes)
            return
        }
        let hasDot = bytes.last == UInt8(ascii: ".")
        let name = try Self.checkedName(hasDot ? bytes.dropLast() : bytes)
        if Self.endsInNumber(name) {
            guard !hasDot, let address = IPAddress.readV4(name[...]) else { throw Self.unusualAddress }
            self.init(address: address)
        } else {
            self.init(checkedName: String(decoding: name, as: UTF8.self))
        }
    }

    /// Creates a host from a name that is known to be canonical.
    ///
    /// - Parameter checkedName: A canonical name, or its last labels.
    package init(checkedName: String) {
        text = checkedName
        address = nil
    }

    private init(bracketed bytes: ArraySlice<UInt8>) throws(AddressRefusal) {
        let inner = bytes.dropFirst()
        guard inner.last == UInt8(ascii: "]"), let address = IPAddress.readV6(inner.dropLast()) else {
            throw AddressRefusal(.address, "the IPv6 address is invalid; write it as [2001:db8::1], without a zone")
        }
        self.init(address: address)
    }

    /// Returns whether two hosts are equal.
    ///
    /// - Parameters:
    ///   - one: The first host.
    ///   - other: The second host.
    public static func == (one: Host, other: Host) -> Bool { one.text == other.text }

    /// Hashes the text.
    ///
    /// - Parameter hasher: The hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// Returns whether the host is a name that consists of one or more labels before a domain. False for addresses.
    ///
    /// - Parameter domain: The domain.
    public func isBelow(_ domain: Host) -> Bool {
        guard isName, domain.isName else { return false }
        let name = text.utf8
        let end = domain.text.utf8
        guard name.count > end.count + 1 else { return false }
        let rest = name.suffix(end.count + 1)
        return rest.first == UInt8(ascii: ".") && rest.dropFirst().elementsEqual(end)
    }

    /// Whether the host is a name of this machine: `localhost`, or a name below it (RFC 6761, section 6.3).
    public var isLocalhost: Bool {
        isName && (text == "localhost" || text.utf8.suffix(10).elementsEqual(".localhost".utf8))
    }
}

extension Host {
    private static let emptyHost = AddressRefusal(.host, "the host is empty")
    package static let tooLong = AddressRefusal(.tooLong, "the host is longer than \(maximumNameBytes) bytes")
    package static let unusualAddress = AddressRefusal(
        .address, "the host is a number; write an IPv4 address as four decimal numbers, as in 192.0.2.1")

    /// Returns the name in lower case after checking its bytes and labels.
    private static func checkedName(_ bytes: ArraySlice<UInt8>) throws(AddressRefusal) -> [UInt8] {
        guard bytes.count <= maximumNameBytes else { throw tooLong }
        var name: [UInt8] = []
        var labelBytes = 0
        name.reserveCapacity(bytes.count)
        for byte in bytes {
            if byte == UInt8(ascii: ".") {
                try checkLabel(labelBytes)
                labelBytes = 0
            } else {
                try checkByte(byte)
                labelBytes += 1
            }
            name.append(AddressBytes.lowercased(byte))
        }
        try checkLabel(labelBytes)
        return name
    }

    private static func checkLabel(_ count: Int) throws(AddressRefusal) {
        guard (1...maximumLabelBytes).contains(count) else {
            throw AddressRefusal(.host, "a label of the host is empty or longer than \(maximumLabelBytes) bytes")
        }
    }

    /// Checks for letters, digits, hyphens, and the underscore that service names contain.
    private static func checkByte(_ byte: UInt8) throws(AddressRefusal) {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            break
        case UInt8(ascii: "%"):
            throw AddressRefusal(.percentEncoding, "the host has a percent sign; write its characters directly")
        case 0x80...:
            throw AddressRefusal(.internationalName, "the host is not in ASCII; write its A-labels, as in xn--…")
        default: throw AddressRefusal(.character, "the host has a character that is not allowed in a host")
        }
    }

    /// Returns whether the last label is a decimal number, or a hexadecimal one after `0x`. The URL standard and libc
    /// treat such a label as the end of an IPv4 address.
    private static func endsInNumber(_ name: [UInt8]) -> Bool {
        let label = name[((name.lastIndex(of: UInt8(ascii: ".")) ?? -1) + 1)...]
        if label.starts(with: [UInt8(ascii: "0"), UInt8(ascii: "x")]) {
            return label.dropFirst(2).allSatisfy { AddressBytes.hexadecimal($0) != nil }
        }
        return label.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
