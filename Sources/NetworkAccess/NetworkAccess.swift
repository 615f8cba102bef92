// NetworkAccess: checks whether this process can use a network, without sending anything.
import Glibc

/// Restrictions that keep this process from every network except loopback. Any thread.
public enum NetworkAccess {
    /// The results of the checks.
    struct Findings {
        /// Whether the process may open IPv4 or IPv6 sockets.
        var opensSockets: Bool
        /// Whether all network interfaces are loopback; `nil` if the kernel does not list them.
        var hasOnlyLoopback: Bool?
    }

    /// Returns the restriction and the systemd unit setting that causes it; `nil` if none is visible. Makes a few
    /// system calls that do not block.
    public static func obstacle() -> String? {
        obstacle(Findings(opensSockets: opensSockets, hasOnlyLoopback: hasOnlyLoopback))
    }

    static func obstacle(_ findings: Findings) -> String? {
        if !findings.opensSockets {
            return "the process may not open sockets of IPv4 and IPv6 (RestrictAddressFamilies= of its unit)"
        }
        switch findings.hasOnlyLoopback {
        case nil: return "the process may not list the network interfaces (AF_NETLINK in RestrictAddressFamilies=)"
        case true?: return "the process has no network interface but loopback (PrivateNetwork= of its unit)"
        case false?: return nil
        }
    }

    private static var opensSockets: Bool {
        [AF_INET, AF_INET6].contains { family in
            let descriptor = socket(family, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            if descriptor >= 0 { close(descriptor) }
            return descriptor >= 0
        }
    }

    private static var hasOnlyLoopback: Bool? {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return nil }
        defer { freeifaddrs(list) }
        var next = list
        while let entry = next {
            if entry.pointee.ifa_flags & UInt32(IFF_LOOPBACK) == 0 { return false }
            next = entry.pointee.ifa_next
        }
        return true
    }
}
