import CLibuv
import Glibc

/// The systemd unit that a peer's process runs in.
public enum PeerUnit {
    /// The system's unit of the process that made a connection: asked by a descriptor of that process, so that no other
    /// can be given its number meanwhile. Of a user's own units it is `user@UID.service`, because the user who runs
    /// these chooses their names.
    ///
    /// - Parameter descriptor: a connected Unix socket.
    /// - Returns: nil where the kernel or the sandbox does not say, or the process has ended.
    static func name(ofPeerOf descriptor: Int32) -> String? {
        let process = clibuv_peer_process(descriptor)
        guard process >= 0 else { return nil }
        defer { close(process) }
        guard let pid = pid(of: process), let groups = ProcFile.text("/proc/\(pid)/cgroup") else { return nil }
        // It is that process's only if it has not ended since.
        guard self.pid(of: process) == pid else { return nil }
        return unit(inControlGroups: groups)
    }

    private static func pid(of process: Int32) -> Int? {
        let line = ProcFile.text("/proc/self/fdinfo/\(process)")?.split(separator: "\n").first { $0.hasPrefix("Pid:") }
        return line.flatMap { Int($0.dropFirst(4).drop { $0 == "\t" || $0 == " " }) }.flatMap { $0 > 0 ? $0 : nil }
    }

    /// The unit in the text of a process's `cgroup` file: of systemd's hierarchy the first part that is a service or a
    /// scope; those further in belong to whom that one has delegated them.
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
