// NetworkAccess: whether this process may use a network, as far as it can know without sending anything.
import Glibc

/// What keeps this process from every network but its own. Any thread.
public enum NetworkAccess {
    /// What the process finds.
    struct Findings {
        /// Whether it may open sockets of IPv4 or IPv6.
        var opensSockets: Bool
        /// Whether each of its interfaces is loopback; nil: the kernel does not list them.
        var hasOnlyLoopback: Bool?
    }

    /// The obstacle, and the setting of a systemd unit that makes it; nil: there is none that can be seen. It takes
    /// some system calls, and no time.
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
