/// The purpose of an address, from the IANA registries for special addresses (RFC 6890 and later).
public enum AddressClass: String, Hashable, Sendable {
    /// An address of the public network.
    case `public`
    /// The local machine: 127.0.0.0/8, ::1.
    case loopback
    /// A private network: RFC 1918, and the former site-local addresses, which unique local addresses replaced.
    case `private`
    /// The local link: 169.254.0.0/16, fe80::/10.
    case linkLocal = "link_local"
    /// The network between a provider and its customers: 100.64.0.0/10 (RFC 6598).
    case sharedNetwork = "shared_network"
    /// A unique local address: fc00::/7 (RFC 4193).
    case uniqueLocal = "unique_local"
    /// A multicast group: 224.0.0.0/4, ff00::/8.
    case multicast
    /// Reserved for protocols or future use.
    case reserved
    /// No address: 0.0.0.0, ::.
    case unspecified
    /// For documentation: 192.0.2.0/24 and others, 2001:db8::/32, 3fff::/20.
    case documentation
    /// For benchmarks between devices: 198.18.0.0/15, 2001:2::/48.
    case benchmarking
}

extension IPAddress {
    /// The class of the address. IPv4-mapped addresses, `64:ff9b::/96` and `2002::/16` have the class of the embedded
    /// address.
    public var addressClass: AddressClass {
        if let inner = embedded { return inner.addressClass }
        return Self.classes.first { $0.network.contains(self) }?.class ?? otherwise
    }

    /// The class of addresses in no row: public for IPv4 and for 2000::/3, the assigned part of IPv6; otherwise
    /// reserved.
    private var otherwise: AddressClass {
        if case .v6(let high, _) = self, high >> 61 != 1 { return .reserved }
        return .public
    }

    /// The IPv4 address that packets to this address reach; `nil` if there is none. It exists for IPv4-mapped addresses
    /// (RFC 4291, section 2.5.5.2), the well-known prefix of translators (RFC 6052), and 6to4 (RFC 3056).
    public var embedded: IPAddress? {
        guard case .v6(let high, let low) = self else { return nil }
        if let mapped = unmapped { return mapped }
        if high == 0x0064_FF9B_0000_0000, low >> 32 == 0 { return .v4(UInt32(truncatingIfNeeded: low)) }
        if high >> 48 == 0x2002 { return .v4(UInt32(truncatingIfNeeded: high >> 16)) }
        return nil
    }

    /// The IPv4 address of an IPv4-mapped address; `nil` for others.
    var unmapped: IPAddress? {
        guard case .v6(0, let low) = self, low >> 32 == 0xFFFF else { return nil }
        return .v4(UInt32(truncatingIfNeeded: low))
    }

    /// The networks that are not public, parsed once.
    private static let classes: [(network: IPNetwork, class: AddressClass)] = rows.compactMap { text, row in
        IPNetwork(text).map { ($0, row) }
    }

    /// The networks that are not public, narrower ones first.
    private static let rows: [(String, AddressClass)] = [
        ("0.0.0.0/32", .unspecified), ("0.0.0.0/8", .reserved), ("10.0.0.0/8", .private),
        ("100.64.0.0/10", .sharedNetwork), ("127.0.0.0/8", .loopback), ("169.254.0.0/16", .linkLocal),
        ("172.16.0.0/12", .private), ("192.0.0.0/24", .reserved), ("192.0.2.0/24", .documentation),
        ("192.88.99.0/24", .reserved), ("192.168.0.0/16", .private), ("198.18.0.0/15", .benchmarking),
        ("198.51.100.0/24", .documentation), ("203.0.113.0/24", .documentation), ("224.0.0.0/4", .multicast),
        ("240.0.0.0/4", .reserved), ("::/128", .unspecified), ("::1/128", .loopback), ("2001:2::/48", .benchmarking),
        ("2001:db8::/32", .documentation), ("2001::/23", .reserved), ("3fff::/20", .documentation),
        ("fc00::/7", .uniqueLocal), ("fe80::/10", .linkLocal), ("fec0::/10", .private), ("ff00::/8", .multicast),
    ]
}
