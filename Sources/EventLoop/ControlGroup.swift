import CLibuv
import Glibc

/// A control group (cgroup v2) for the processes of one family, below the group of this process.
///
/// A member's children are members, whatever session, process group or parent they have. So the kernel ends all of them
/// at once, including those that are being forked. It needs a service manager that has delegated the group of this
/// process to it: otherwise this process may not create groups. A member with the user of this process can move itself
/// to another delegated group.
///
/// Belongs to its ``ProcessFamily``; on the loop thread.
@LoopActor
final class ControlGroup {
    /// The directory in which groups are created, and the prefix of their names.
    struct Location {
        let directory: String
        let prefix: String
    }

    private let path: String

    private init(_ path: String) { self.path = path }

    /// The location; `nil` if no groups are created.
    private(set) static var location: Location?
    private static var count = 0
    /// The maximum number of existing names that are skipped.
    private static let maximumTaken = 64

    /// Enables groups if the group of this process is delegated. Removes the groups that an earlier process of the same
    /// unit has left, unless they have members.
    static func enable(prefix: String) {
        guard let groups = ProcFile.text("/proc/self/cgroup"), let mounts = ProcFile.text("/proc/self/mountinfo"),
            let directory = directories(inGroups: groups, mounts: mounts).first(where: isUsable)
        else { return }
        location = Location(directory: directory, prefix: prefix)
        removeEmpty(directory, prefix)
    }

    /// Returns the paths by which a process can access its own group of cgroup v2, also if v1 is mounted, too.
    ///
    /// - Parameters:
    ///   - groups: The process's `cgroup` file.
    ///   - mounts: Its `mountinfo`. Mount points with spaces, which that file escapes, are left out.
    nonisolated static func directories(inGroups groups: String, mounts: String) -> [String] {
        guard let path = groups.split(separator: "\n").first(where: { $0.hasPrefix("0::/") })?.dropFirst(3) else {
            return []
        }
        return mounts.split(separator: "\n").compactMap { line -> String? in
            let fields = line.split(separator: " ")
            guard let end = fields.firstIndex(of: "-"), end >= 6, fields.count > end + 1, fields[end + 1] == "cgroup2",
                !fields[4].contains("\\")
            else { return nil }
            // The part of the hierarchy that the mount shows.
            let root = fields[3] == "/" ? "" : fields[3]
            guard path == root || path.hasPrefix(root + "/") else { return nil }
            let below = path.dropFirst(root.count)
            return below == "/" ? String(fields[4]) : String(fields[4] + below)
        }
    }

    /// Whether groups can be created there and killed as a whole, which needs kernel 5.14 or newer.
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

    /// Prepares the start of a process in a group; must be awaited right before ``make()``. A process that enters a
    /// group waits for an RCU grace period, some milliseconds, and so does the thread that started it. For about the
    /// same time afterwards no process has to wait again. So a thread of the pool waits here instead of the loop: it
    /// moves this process to the group in which it already is.
    static func prepare() async {
        guard let location else { return }
        let path = "\(location.directory)/cgroup.procs"
        await BlockingWork.run { _ = ProcFile.write("0", to: path) }
    }

    /// Creates a group without members; returns `nil` if that fails.
    static func make() -> ControlGroup? {
        guard let location else { return nil }
        for _ in 0..<maximumTaken {
            count += 1
            let path = "\(location.directory)/\(location.prefix)\(count)"
            if mkdir(path, 0o755) == 0 {
                // Groups that members create would have to be removed before this one.
                ProcFile.write("0", to: "\(path)/cgroup.max.descendants")
                return ControlGroup(path)
            }
            guard errno == EEXIST else { return nil }
        }
        return nil
    }

    /// Calls `body` with a descriptor by which a process enters the group; -1 if it cannot be opened.
    func withEntry<R>(_ body: (Int32) -> R) -> R {
        let entry = clibuv_open("\(path)/cgroup.procs", O_WRONLY, 0)
        defer { if entry >= 0 { close(entry) } }
        return body(entry)
    }

    /// Kills all members, and removes the group once they have ended.
    ///
    /// - Returns: Whether no member is left.
    func end() -> Bool {
        ProcFile.write("1", to: "\(path)/cgroup.kill")
        guard rmdir(path) != 0, errno == EBUSY else { return true }
        // Also busy if a member has raised the limit and created groups: the service manager removes them with the
        // unit.
        return ProcFile.text("\(path)/cgroup.events")?.contains("populated 1") != true
    }
}
