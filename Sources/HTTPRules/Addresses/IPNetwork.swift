/// A network of addresses in CIDR form (RFC 4632, RFC 4291, section 2.3): `10.1.0.0/16`, `fd00::/8`.
public struct IPNetwork: Hashable, Sendable, CustomStringConvertible {
    /// The first address.
    public let address: IPAddress
    /// The number of leading bits that all its addresses share.
    public let prefixLength: Int

    /// Parses a network; `nil` if the text is none, or has bits set after the prefix.
    ///
    /// - Parameter text: An address, a slash, and the length of the prefix. An address alone is a network of one
    ///   address.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count <= IPAddress.maximumTextBytes + 4 else { return nil }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let first = parts.first, parts.count <= 2, let address = IPAddress(first) else { return nil }
        let length = parts.count == 2 ? Self.length(parts[1]) : address.bitCount
        guard let length, length <= address.bitCount, address.masked(to: length) == address else { return nil }
        let inner = length >= 96 ? address.unmapped : nil
        self.address = inner ?? address
        prefixLength = inner == nil ? length : length - 96
    }

    private static func length(_ text: some StringProtocol) -> Int? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return Int(text)
    }

    /// Returns whether an address is in the network. An IPv4-mapped address counts as its IPv4 address.
    ///
    /// - Parameter other: The address.
    public func contains(_ other: IPAddress) -> Bool {
        let other = other.unmapped ?? other
        return other.bitCount == address.bitCount && other.masked(to: prefixLength) == address
    }

    /// The canonical text.
    public var description: String { "\(address.text)/\(prefixLength)" }
}

extension IPAddress {
    /// The number of bits of an address of this kind.
    var bitCount: Int {
        if case .v4 = self { 32 } else { 128 }
    }

    /// Returns the address with all bits after a prefix cleared.
    ///
    /// - Parameter length: The length of the prefix.
    func masked(to length: Int) -> IPAddress {
        switch self {
        case .v4(let bits): .v4(bits & ~(UInt32.max >> max(length, 0)))
        case .v6(let high, let low):
            .v6(high: high & ~(UInt64.max >> max(length, 0)), low: low & ~(UInt64.max >> max(length - 64, 0)))
        }
    }
}
