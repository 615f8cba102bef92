import CLibuv
import Glibc

/// The systemd unit in which a peer's process runs.
public enum PeerUnit {
    /// Returns the system unit of the process that made a connection. A descriptor of that process is used, so that no
    /// other process can get its id in the meantime. For a user's own units it is `user@UID.service`, because that user
    /// chooses their names.
    ///
    /// - Parameter descriptor: A connected Unix socket.
    /// - Returns: The unit; `nil` if the kernel or the sandbox does not report it, or the process has ended.
    static func name(ofPeerOf descriptor: Int32) -> String? {
        let process = clibuv_peer_process(descriptor)
        guard process >= 0 else { return nil }
        defer { close(process) }
        guard let pid = pid(of: process), let groups = ProcFile.text("/proc/\(pid)/cgroup") else { return nil }
        // The text belongs to that process only if it has not ended since.
        guard self.pid(of: process) == pid else { return nil }
        return unit(inControlGroups: groups)
    }

    private static func pid(of process: Int32) -> Int? {
        let line = ProcFile.text("/proc/self/fdinfo/\(process)")?.split(separator: "\n").first { $0.hasPrefix("Pid:") }
        return line.flatMap { Int($0.dropFirst(4).drop { $0 == "\t" || $0 == " " }) }.flatMap { $0 > 0 ? $0 : nil }
    }

    /// Returns the unit in the text of a process's `cgroup` file: the first part of systemd's hierarchy that is a
    /// service or a scope. Later parts belong to groups that this unit has delegated.
    static func unit(inControlGroups text: String) -> String? {
        let lines = text.split(separator: "\n").map {
            $0.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        }
        let line =
            lines.first { $0.count == 3 && $0[1] == "name=systemd" } ?? lines.first { $0.count == 3 && $0[1] == "" }
        return line?[2].split(separator: "/").first { $0.hasSuffix(".service") || $0.hasSuffix(".scope") }.map(
            String.init)
    }
}
