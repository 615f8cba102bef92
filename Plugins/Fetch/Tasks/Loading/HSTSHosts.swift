import HTTPRules
import Synchronization
import TaskKit

/// The hosts that require TLS (HSTS, RFC 6797), separate for each user, profile and site. A page therefore cannot use
/// the entries of another page to recognise the user. Any thread.
final class HSTSHosts: Sendable {
    /// The user, profile and site that an entry belongs to.
    struct Partition: Hashable, Sendable, Codable {
        var uid: UInt32
        /// The cookie profile; `default` if none is named.
        var profile: String
        /// The site of the page; `local` for a program.
        var site: String
    }

    /// The policy that a host has sent.
    struct Entry: Hashable, Sendable, Codable {
        var until: Int64
        var includesSubdomains: Bool
    }

    /// The maximum number of hosts of a user. A further host replaces the one whose entry expires first.
    static let maximumHosts = 4096

    private let hosts = Mutex<[Partition: [String: Entry]]>([:])
    private let now: @Sendable () -> UnixTime

    init(now: @escaping @Sendable () -> UnixTime = { WallClock.now }) { self.now = now }

    /// Returns whether requests for a host must use TLS.
    func covers(_ host: Host, in partition: Partition) -> Bool {
        guard host.isName else { return false }
        let time = now().seconds
        return hosts.withLock { hosts in
            guard let known = hosts[partition] else { return false }
            var name = host.text[...]
            while true {
                let isSame = name.utf8.count == host.text.utf8.count
                if let entry = known[String(name)], entry.until > time, isSame || entry.includesSubdomains {
                    return true
                }
                guard let dot = name.utf8.firstIndex(of: UInt8(ascii: ".")) else { return false }
                name = name[name.utf8.index(after: dot)...]
            }
        }
    }

    /// Records the policy that a host has sent over a valid TLS connection.
    ///
    /// - Returns: Whether the stored policy has changed.
    func note(_ policy: StrictTransport, of host: Host, in partition: Partition) -> Bool {
        guard host.isName else { return false }
        let (seconds, overflows) = now().seconds.addingReportingOverflow(policy.maxAge.components.seconds)
        let entry = Entry(until: overflows ? .max : seconds, includesSubdomains: policy.includesSubdomains)
        return hosts.withLock { hosts in
            guard policy.maxAge > .zero else { return hosts[partition]?.removeValue(forKey: host.text) != nil }
            guard hosts[partition]?[host.text] != entry else { return false }
            hosts[partition, default: [:]][host.text] = entry
            Self.makeRoom(of: partition.uid, &hosts)
            return true
        }
    }

    /// Removes the entries of some hosts.
    ///
    /// - Parameter isMeant: Returns whether to remove a host's entry.
    /// - Returns: The number of removed entries.
    func remove(of uid: UInt32, where isMeant: (Partition, String) -> Bool) -> Int {
        hosts.withLock { hosts in
            var count = 0
            for (partition, known) in hosts where partition.uid == uid {
                for host in known.keys where isMeant(partition, host) {
                    hosts[partition]?[host] = nil
                    count += 1
                }
                if hosts[partition]?.isEmpty == true { hosts[partition] = nil }
            }
            return count
        }
    }

    /// Returns the hosts of a user.
    func all(of uid: UInt32) -> [(Partition, host: String)] {
        hosts.withLock { hosts in
            hosts.filter { $0.key.uid == uid }.flatMap { partition, known in known.keys.map { (partition, $0) } }
        }
    }

    private static func makeRoom(of uid: UInt32, _ hosts: inout [Partition: [String: Entry]]) {
        let own = hosts.filter { $0.key.uid == uid }
        guard own.reduce(0, { $0 + $1.value.count }) > maximumHosts else { return }
        let all = own.flatMap { partition, known in known.map { (partition, $0.key, $0.value.until) } }
        guard let first = all.min(by: { $0.2 < $1.2 }) else { return }
        hosts[first.0]?[first.1] = nil
    }

    // MARK: On the disk

    private struct Saved: Codable {
        var partition: Partition
        var host: String
        var entry: Entry

        /// The maximum length of its JSON text, with numbers of any size. No name has a character that is escaped.
        var maximumBytes: Int { 160 + partition.profile.utf8.count + partition.site.utf8.count + host.utf8.count }
    }

    /// Returns the entries as JSON text, without those of private profiles. If they do not fit, the users with the most
    /// bytes lose the entries that expire first.
    ///
    /// - Parameter maximumBytes: The maximum length of the text.
    func text(maximumBytes: Int) throws -> [UInt8] {
        let time = now().seconds
        let saved = hosts.withLock { hosts in
            hosts.filter { !ProfileName(stored: $0.key.profile).isPrivate }.flatMap { partition, known in
                known.filter { $0.value.until > time }.map {
                    Saved(partition: partition, host: $0.key, entry: $0.value)
                }
            }
        }
        return try JSONCoding.encode(Self.fitting(saved, in: maximumBytes - 2))
    }

    /// Returns the entries that fit into a number of bytes, with equal shares of it for all users.
    private static func fitting(_ saved: [Saved], in maximum: Int) -> [Saved] {
        guard saved.reduce(0, { $0 + $1.maximumBytes }) > maximum else { return saved }
        let sums = Dictionary(grouping: saved, by: \.partition.uid).map { ($1, $1.reduce(0) { $0 + $1.maximumBytes }) }
        var (fitting, left, users): ([Saved], Int, Int) = ([], maximum, sums.count)
        for (own, bytes) in sums.sorted(by: { $0.1 < $1.1 }) {
            var share = min(left / users, bytes)
            (left, users) = (left - share, users - 1)
            for one in own.sorted(by: { $0.entry.until > $1.entry.until }) {
                share -= one.maximumBytes
                guard share >= 0 else { break }
                fitting.append(one)
            }
        }
        return fitting
    }

    /// Restores the entries that ``text(maximumBytes:)`` has returned.
    func take(text: [UInt8]) throws {
        let saved = try JSONCoding.decode([Saved].self, from: JSON(parsing: text))
        hosts.withLock { hosts in
            for one in saved { hosts[one.partition, default: [:]][one.host] = one.entry }
        }
    }
}
