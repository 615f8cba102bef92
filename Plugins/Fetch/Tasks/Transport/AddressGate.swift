import Glibc
import HTTPRules
import NetworkAccess
import TaskKit

/// Which addresses requests go to. It is asked about each address before a connection is made, and again before each
/// request on one: names that resolve to something else in between do not pass it. Any thread.
struct AddressGate: Sendable {
    /// Networks that are open although they are not public.
    var openNetworks: [IPNetwork] = []
    /// The addresses of this machine; nil: they cannot be read.
    var ownAddresses: @Sendable () -> Set<IPAddress>? = { MachineAddresses.read() }

    /// Kinds of addresses that no setting opens: they are those of no machine.
    private static let closed: Set<AddressClass> = [.unspecified, .multicast]

    /// Why no request goes to an address; nil: it may.
    ///
    /// - Parameter address: The address; nil: none that is known here.
    func reason(against address: IPAddress?) -> String? {
        guard let address else { return "it is not an address of IPv4 or IPv6" }
        let kind = address.addressClass
        if Self.closed.contains(kind) { return "it is \(kind.rawValue)" }
        let inner = address.embedded ?? address
        if openNetworks.contains(where: { $0.contains(address) || $0.contains(inner) }) { return nil }
        guard kind == .public else { return "it is \(kind.rawValue), and private_networks does not open it" }
        guard let own = ownAddresses() else { return "the addresses of this machine cannot be read" }
        return own.contains(inner) ? "it is one of this machine's, and private_networks does not open it" : nil
    }

    /// The error for an address.
    static func refusal(_ reason: String, host: Host, address: IPAddress?) -> BridgeError {
        // Where the kernel does not report this machine's addresses, there is no network either.
        if address?.addressClass == .public, let obstacle = NetworkAccess.obstacle() {
            return .noNetwork(obstacle, host: host)
        }
        return .refused(
            .privateAddress, "\(host.text) leads to \(address?.text ?? "an unknown address"): \(reason)", host: host,
            address: address)
    }
}

/// The addresses of this machine.
enum MachineAddresses {
    /// Reads them from the kernel; nil: it does not report them.
    static func read() -> Set<IPAddress>? {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return nil }
        defer { freeifaddrs(list) }
        var addresses: Set<IPAddress> = []
        var next = list
        while let entry = next {
            if let address = IPAddress(entry.pointee.ifa_addr) { addresses.insert(address) }
            next = entry.pointee.ifa_next
        }
        return addresses
    }
}

extension IPAddress {
    /// The address of a socket; nil: it is of another family.
    init?(_ address: UnsafePointer<sockaddr>?) {
        guard let address else { return nil }
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            let bytes = UnsafeRawBufferPointer(start: raw + 4, count: 4)
            self.init(bytes: bytes)
        case AF_INET6:
            let bytes = UnsafeRawBufferPointer(start: raw + 8, count: 16)
            self.init(bytes: bytes)
        default: return nil
        }
    }
    /// The address of a text of libcurl's, in which a zone may follow; nil: it is none.
    init?(remote text: UnsafePointer<CChar>) {
        var address = in_addr()
        // Each request asks: this is shorter than a text of Swift's.
        if inet_pton(AF_INET, text, &address) == 1 {
            self = .v4(UInt32(bigEndian: address.s_addr))
        } else {
            self.init(String(cString: text).prefix { $0 != "%" })
        }
    }
}
