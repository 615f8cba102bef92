import Glibc

/// Groups whose only members are this process's user and root. Debian creates such a group for each user.
enum OwnGroup {
    /// Returns whether the group has no other members, without reading the whole user database. The group must be
    /// root's, or the user's own by number and name, and must list no other members.
    static func isAlone(in group: gid_t) -> Bool {
        guard let user = user(geteuid()), let found = self.group(group) else { return false }
        guard group == 0 || (group == user.group && found.name == user.name) else { return false }
        return found.members.allSatisfy { $0 == user.name || $0 == "root" }
    }

    /// The maximum size of one entry in bytes; a longer entry counts as not found.
    private static let entryBytes = 64 << 10

    private static func user(_ id: uid_t) -> (name: String, group: gid_t)? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: entryBytes) { memory in
            // `!`: the buffer is not empty.
            guard getpwuid_r(id, &entry, memory.baseAddress!, memory.count, &found) == 0, found != nil else {
                return nil
            }
            return (String(cString: entry.pw_name), entry.pw_gid)
        }
    }

    private static func group(_ id: gid_t) -> (name: String, members: [String])? {
        var entry = Glibc.group()
        var found: UnsafeMutablePointer<Glibc.group>?
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: entryBytes) { memory in
            // `!`: the buffer is not empty.
            guard getgrgid_r(id, &entry, memory.baseAddress!, memory.count, &found) == 0, found != nil else {
                return nil
            }
            var members: [String] = []
            // The list ends with a null pointer.
            var next = entry.gr_mem
            while let member = next?.pointee {
                members.append(String(cString: member))
                next = next?.advanced(by: 1)
            }
            return (String(cString: entry.gr_name), members)
        }
    }
}
