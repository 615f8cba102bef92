/// An address of the Internet Protocol, stored as bits.
public enum IPAddress: Hashable, Sendable {
    /// An IPv4 address; the first byte is the most significant.
    case v4(UInt32)
    /// An IPv6 address: its first and its last eight bytes.
    case v6(high: UInt64, low: UInt64)

    /// Creates an address from bytes in network order.
    ///
    /// - Parameter bytes: Four or sixteen bytes; any other number returns `nil`.
    public init?(bytes: some Collection<UInt8>) {
        switch bytes.count {
        case 4: self = .v4(bytes.reduce(0) { $0 << 8 | UInt32($1) })
        case 16:
            self = .v6(
                high: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
                low: bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) })
        default: return nil
        }
    }

    /// Parses an address: IPv4 as four decimal numbers without leading zeros, IPv6 in any form of RFC 4291, section
    /// 2.2, without brackets and without a zone. `nil` if the text is no address.
    ///
    /// - Parameter text: The text.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count <= Self.maximumTextBytes else { return nil }
        let bytes = Array(text.utf8)
        guard let address = Self.readV4(bytes[...]) ?? Self.readV6(bytes[...]) else { return nil }
        self = address
    }

    /// The maximum length of an address's text: eight groups, the last two as IPv4.
    package static let maximumTextBytes = 45

    /// The bytes in network order.
    public var bytes: [UInt8] {
        switch self {
        case .v4(let bits): (0..<4).map { UInt8(truncatingIfNeeded: bits >> (24 - 8 * UInt32($0))) }
        case .v6(let high, let low):
            [high, low].flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * UInt64($0))) } }
        }
    }

    /// The eight groups of an IPv6 address; empty for an IPv4 address.
    private var groups: [UInt16] {
        guard case .v6(let high, let low) = self else { return [] }
        return [high, low].flatMap { half in
            (0..<4).map { UInt16(truncatingIfNeeded: half >> (48 - 16 * UInt64($0))) }
        }
    }

    /// The canonical text. IPv6 follows RFC 5952, section 4, with all groups in hexadecimal as in the URL standard.
    public var text: String {
        guard case .v6 = self else { return bytes.map { String($0) }.joined(separator: ".") }
        let groups = groups
        guard let gap = Self.longestZeros(groups) else { return Self.joined(groups[...]) }
        return "\(Self.joined(groups[..<gap.lowerBound]))::\(Self.joined(groups[gap.upperBound...]))"
    }

    private static func joined(_ groups: ArraySlice<UInt16>) -> String {
        groups.map { String($0, radix: 16) }.joined(separator: ":")
    }

    /// Returns the first of the longest runs of two or more zero groups (RFC 5952, section 4.2); `nil` if there is
    /// none.
    private static func longestZeros(_ groups: [UInt16]) -> Range<Int>? {
        var longest: Range<Int>?
        var start = 0
        for index in 0...groups.count where index == groups.count || groups[index] != 0 {
            if index - start > max(longest?.count ?? 0, 1) { longest = start..<index }
            start = index + 1
        }
        return longest
    }
}

extension IPAddress {
    /// Parses four decimal numbers up to 255, separated by dots, without leading zeros; `nil` for anything else.
    ///
    /// - Parameter bytes: The text.
    static func readV4(_ bytes: ArraySlice<UInt8>) -> IPAddress? {
        guard bytes.count <= 15 else { return nil }
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bits: UInt32 = 0
        for part in parts {
            guard (1...3).contains(part.count), part.count == 1 || part.first != UInt8(ascii: "0") else { return nil }
            var number: UInt32 = 0
            for digit in part {
                guard case UInt8(ascii: "0")...UInt8(ascii: "9") = digit else { return nil }
                number = number * 10 + UInt32(digit - UInt8(ascii: "0"))
            }
            guard number <= 255 else { return nil }
            bits = bits << 8 | number
        }
        return .v4(bits)
    }

    /// Parses an IPv6 address in any form of RFC 4291, section 2.2; `nil` for anything else.
    ///
    /// - Parameter bytes: The text, without brackets.
    static func readV6(_ bytes: ArraySlice<UInt8>) -> IPAddress? {
        guard bytes.count <= maximumTextBytes else { return nil }
        var groups: [UInt16] = []
        var gap: Int?
        var index = bytes.startIndex
        if bytes.starts(with: [UInt8(ascii: ":"), UInt8(ascii: ":")]) {
            gap = 0
            index += 2
        }
        while index < bytes.endIndex {
            guard groups.count < 8 else { return nil }
            let start = index
            guard let group = readGroup(bytes, &index) else { return nil }
            if index < bytes.endIndex, bytes[index] == UInt8(ascii: ".") {
                guard groups.count <= 6, case .v4(let bits) = readV4(bytes[start...]) else { return nil }
                groups += [UInt16(truncatingIfNeeded: bits >> 16), UInt16(truncatingIfNeeded: bits)]
                break
            }
            groups.append(group)
            guard index < bytes.endIndex else { break }
            guard bytes[index] == UInt8(ascii: ":"), bytes.index(after: index) < bytes.endIndex else { return nil }
            index += 1
            if bytes[index] == UInt8(ascii: ":") {
                guard gap == nil else { return nil }
                gap = groups.count
                index += 1
            }
        }
        return address(groups, gap: gap)
    }

    /// Reads one to four hexadecimal digits and moves the index past them; `nil` if there are none.
    private static func readGroup(_ bytes: ArraySlice<UInt8>, _ index: inout Int) -> UInt16? {
        let start = index
        var value: UInt16 = 0
        while index < bytes.endIndex, index - start < 4, let digit = AddressBytes.hexadecimal(bytes[index]) {
            value = value << 4 | UInt16(digit)
            index += 1
        }
        return index > start ? value : nil
    }

    private static func address(_ groups: [UInt16], gap: Int?) -> IPAddress? {
        var groups = groups
        if let gap {
            guard groups.count < 8 else { return nil }
            groups.insert(contentsOf: Array(repeating: 0, count: 8 - groups.count), at: gap)
        }
        guard groups.count == 8 else { return nil }
        return IPAddress(
            bytes: groups.flatMap { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] })
    }
}
