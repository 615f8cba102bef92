import Glibc
import TestSupport

/// A control group (cgroup v2) that looks like one that systemd has delegated to a unit. Its `deinit` kills all
/// processes in it.
final class DelegatedGroup {
    let path: String

    /// Whether this process can create a group.
    static let isPossible: Bool = (try? DelegatedGroup()).map { exists("\($0.path)/cgroup.kill") } ?? false

    /// Creates the group below the group of this process.
    init(isDelegated: Bool = true) throws {
        let mount = contents(of: "/proc/self/mountinfo").split(separator: "\n").first {
            $0.contains(" - cgroup2 ")
        }?.split(separator: " ")
        let own = contents(of: "/proc/self/cgroup").split(separator: "\n").first { $0.hasPrefix("0::/") }?.dropFirst(3)
        guard let mount, let own, mount[3] == "/" else { throw TestFailure("no cgroup v2 is mounted") }
        path = "\(mount[4])\(own == "/" ? "" : own)/trestle-test-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        guard mkdir(path, 0o755) == 0 else { throw TestFailure("no control group can be made: \(path)") }
        guard isDelegated else { return }
        let program = "import os, sys\nos.setxattr(sys.argv[1], 'user.delegate', b'1')"
        let mark = try run("/usr/bin/python3", ["-c", program, path])
        guard mark.end == .exited(0) else { throw TestFailure("\(path) cannot be marked: \(mark.errors)") }
    }

    deinit {
        if let file = fopen("\(path)/cgroup.kill", "w") {
            fputs("1", file)
            fclose(file)
        }
        let deadline = Deadline()
        // The end of a process that is not a child is not reported, so this polls.
        while members != [], !deadline.isOver { poll(nil, 0, 5) }
        for name in groups { rmdir("\(path)/\(name)") }
        rmdir(path)
    }

    /// The names of the groups in this group.
    var groups: [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if entry.pointee.d_type == UInt8(DT_DIR), !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    func make(_ name: String) throws {
        guard mkdir("\(path)/\(name)", 0o755) == 0 else { throw TestFailure("\(name) cannot be made") }
    }

    /// Returns the processes in one of the groups.
    func members(of group: String) -> [pid_t] {
        contents(of: "\(path)/\(group)/cgroup.procs").split(separator: "\n").compactMap { pid_t($0) }
    }

    /// One element if any process is in this group or in a group below it; empty otherwise.
    private var members: [Substring] {
        contents(of: "\(path)/cgroup.events").split(separator: "\n").filter { $0 == "populated 1" }
    }

    /// Writes a program that enters this group or a group in it, then executes another program. Returns its path.
    func entering(_ program: String, group: String = "", in folder: TemporaryFolder) throws -> String {
        let path = try folder.write(
            "#!/bin/sh\necho 0 > '\(path)/\(group)/cgroup.procs' && exec '\(program)' \"$@\"\n", to: "enter\(group)")
        chmod(path, 0o755)
        return path
    }
}
