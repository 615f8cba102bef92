import Glibc
import HTTPRules
import NetworkAccess
import TaskKit

/// The rules for the addresses that requests may reach. The gate checks each address before a connection is made, and
/// again before each request on a connection. A name that resolves to another address in between therefore does not
/// bypass it. Any thread.
struct AddressGate: Sendable {
    /// The networks that are permitted although they are not public.
    var openNetworks: [IPNetwork] = []
    /// Returns the addresses of this machine; `nil` if they cannot be read.
    var ownAddresses: @Sendable () -> Set<IPAddress>? = { MachineAddresses.read() }

    /// The classes of addresses that no setting permits, because no machine has them.
    private static let closed: Set<AddressClass> = [.unspecified, .multicast]

    /// Returns the reason why an address is refused; `nil` if it is permitted.
    ///
    /// - Parameter address: The address; `nil` if it is neither IPv4 nor IPv6.
    func reason(against address: IPAddress?) -> String? {
        guard let address else { return "it is not an address of IPv4 or IPv6" }
        let kind = address.addressClass
        if Self.closed.contains(kind) { return "its class is \(kind.rawValue)" }
        let inner = address.embedded ?? address
        if openNetworks.contains(where: { $0.contains(address) || $0.contains(inner) }) { return nil }
        guard kind == .public else {
            return "its class is \(kind.rawValue); the setting private_networks allows exceptions"
        }
        guard let own = ownAddresses() else { return "the addresses of this machine cannot be read" }
        return own.contains(inner)
            ? "it is an address of this machine; the setting private_networks allows exceptions" : nil
    }

    /// Returns the error for a refused address.
    static func refusal(_ reason: String, host: Host, address: IPAddress?) -> BridgeError {
        // If the kernel does not report this machine's addresses, the cause is usually that the daemon has no network
        // access.
        if address?.addressClass == .public, let obstacle = NetworkAccess.obstacle() {
            return .noNetwork(obstacle, host: host)
        }
        return .refused(
            .privateAddress,
            "requests to \(host.text) (\(address?.text ?? "an unknown address")) are not allowed: \(reason)",
            host: host, address: address)
    }
}

/// The addresses of this machine.
enum MachineAddresses {
    /// Reads the addresses from the kernel; returns `nil` if it does not report them.
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
    /// Creates the address of a socket; `nil` if its family is neither IPv4 nor IPv6.
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
    /// Creates an address from libcurl's text, which may end with a zone; `nil` if the text is not an address.
    init?(remote text: UnsafePointer<CChar>) {
        var address = in_addr()
        // This runs for each request, and is faster than creating a Swift string.
        if inet_pton(AF_INET, text, &address) == 1 {
            self = .v4(UInt32(bigEndian: address.s_addr))
        } else {
            self.init(String(cString: text).prefix { $0 != "%" })
        }
    }
}
