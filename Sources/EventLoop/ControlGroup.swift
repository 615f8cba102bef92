import CLibuv
import Glibc

/// A control group (cgroup v2) for the processes of one family, below the group of this process.
///
/// A member's children are members, whatever session, process group or parent they have. So the kernel ends all of them
/// immediately, including those that are being forked meanwhile. Only where the service manager has delegated the group
/// of this process to it: elsewhere no process may make groups. A member with the user of this process can move itself
/// to another delegated group.
///
/// Belongs to its ``ProcessFamily``; on the loop thread.
@LoopActor
final class ControlGroup {
    /// The directory below which groups are made, and how their names begin.
    struct Location {
        let directory: String
        let prefix: String
    }

    private let path: String

    private init(_ path: String) { self.path = path }

    /// nil: no groups are made.
    private(set) static var location: Location?
    private static var count = 0
    /// Names that others have taken are passed over, as many as this.
    private static let maximumTaken = 64

    /// Has groups be made from now on if the group of this process is delegated. Removes those that an earlier process
    /// of the same unit has left; one that has members stays.
    static func enable(prefix: String) {
        guard let groups = ProcFile.text("/proc/self/cgroup"), let mounts = ProcFile.text("/proc/self/mountinfo"),
            let directory = directories(inGroups: groups, mounts: mounts).first(where: isUsable)
        else { return }
        location = Location(directory: directory, prefix: prefix)
        removeEmpty(directory, prefix)
    }

    /// The paths by which a process reaches its own group of cgroup v2, also where v1 is mounted beside it.
    ///
    /// - Parameters:
    ///   - groups: the process's `cgroup` file.
    ///   - mounts: its `mountinfo`. Mount points with spaces, which it escapes, are left out.
    nonisolated static func directories(inGroups groups: String, mounts: String) -> [String] {
        guard let path = groups.split(separator: "\n").first(where: { $0.hasPrefix("0::/") })?.dropFirst(3) else {
            return []
        }
        return mounts.split(separator: "\n").compactMap { line -> String? in
            let fields = line.split(separator: " ")
            guard let end = fields.firstIndex(of: "-"), end >= 6, fields.count > end + 1, fields[end + 1] == "cgroup2",
                !fields[4].contains("\\")
            else { return nil }
            // What the mount shows of the hierarchy.
            let root = fields[3] == "/" ? "" : fields[3]
            guard path == root || path.hasPrefix(root + "/") else { return nil }
            let below = path.dropFirst(root.count)
            return below == "/" ? String(fields[4]) : String(fields[4] + below)
        }
    }

    /// Whether groups may be made there, and ended as a whole, for which the kernel has to be 5.14 or newer.
    private static func isUsable(_ directory: String) -> Bool {
        clibuv_is_delegated(directory) != 0 && access(directory, W_OK) == 0
            && access("\(directory)/cgroup.procs", W_OK) == 0 && access("\(directory)/cgroup.kill", F_OK) == 0
    }

    private static func removeEmpty(_ directory: String, _ prefix: String) {
        try? FolderContents.forEach(in: directory) { name in
            if name.hasPrefix(prefix), UInt(name.dropFirst(prefix.count)) != nil { rmdir("\(directory)/\(name)") }
            return true
        }
    }

    /// To be awaited right before ``make()`` and the start of a process. A process that enters a group waits for an RCU
    /// grace period, some milliseconds, and so does the thread that started it. For about as long afterwards no process
    /// has to wait again. So this has a thread of the pool wait in place of the loop: it moves this process to the
    /// group in which it is already.
    static func prepare() async {
        guard let location else { return }
        let path = "\(location.directory)/cgroup.procs"
        await BlockingWork.run { _ = ProcFile.write("0", to: path) }
    }

    /// A new group without members; nil where none can be made.
    static func make() -> ControlGroup? {
        guard let location else { return nil }
        for _ in 0..<maximumTaken {
            count += 1
            let path = "\(location.directory)/\(location.prefix)\(count)"
            if mkdir(path, 0o755) == 0 {
                // Groups of the members' own would have to be removed before this one.
                ProcFile.write("0", to: "\(path)/cgroup.max.descendants")
                return ControlGroup(path)
            }
            guard errno == EEXIST else { return nil }
        }
        return nil
    }

    /// Hands `body` a descriptor by which a process enters the group; -1 where there is none.
    func withEntry<R>(_ body: (Int32) -> R) -> R {
        let entry = clibuv_open("\(path)/cgroup.procs", O_WRONLY, 0)
        defer { if entry >= 0 { close(entry) } }
        return body(entry)
    }

    /// Kills all members, and removes the group once they have ended.
    ///
    /// - Returns: whether no member is left.
    func end() -> Bool {
        ProcFile.write("1", to: "\(path)/cgroup.kill")
        guard rmdir(path) != 0, errno == EBUSY else { return true }
        // Busy, too, if a member has raised the bound and made groups: the service manager removes them with the unit.
        return ProcFile.text("\(path)/cgroup.events")?.contains("populated 1") != true
    }
}
