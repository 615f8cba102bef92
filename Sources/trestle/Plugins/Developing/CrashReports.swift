import Glibc
import PrivateDaemon

/// What makes a crash of a plugin's process name file and line.
enum CrashReports {
    /// For SWIFT_BACKTRACE: the thread that crashed and nothing else, without a terminal, short enough for the log.
    private static let settings =
        "enable=yes,color=no,interactive=no,threads=crashed,registers=none,images=none,limit=16,output-to=stderr"

    /// Variables for the daemon, which plugins' processes inherit. Swift's runtime reports crashes of C as well. What
    /// the user has set already stays as it is. Blocks.
    static func environment() -> [String: String] {
        var variables: [String: String] = [:]
        if getenv("PYTHONFAULTHANDLER") == nil { variables["PYTHONFAULTHANDLER"] = "1" }
        guard getenv("SWIFT_BACKTRACE") == nil, let reporter else { return variables }
        variables["SWIFT_BACKTRACE"] = "\(settings),swift-backtrace=\(reporter)"
        return variables
    }

    /// The program that Swift's runtime has write the report: it comes with a toolchain. An installed Trestle has the
    /// runtime alone.
    private static var reporter: String? {
        for folder in TrestlePrograms.searchPath {
            guard let compiler = realpath("\(folder)/swift", nil) else { continue }
            defer { free(compiler) }
            let prefix = String(cString: compiler).split(separator: "/").dropLast(2).reduce(into: "") { $0 += "/\($1)" }
            let program = "\(prefix)/libexec/swift/linux/swift-backtrace"
            if access(program, X_OK) == 0 { return program }
        }
        return nil
    }
}

/// How a user attaches a debugger to a plugin's process.
enum DebuggerHint {
    /// A command for the shell. Blocks.
    static func command(for pid: Int64) -> String {
        let found = ["gdb", "lldb"].first { name in
            TrestlePrograms.searchPath.contains { access("\($0)/\(name)", X_OK) == 0 }
        }
        return "\(needsRoot ? "sudo " : "")\(found ?? "gdb") -p \(pid)"
    }

    /// Whether the kernel lets only root attach to a process that is no child of the debugger's (the Yama module).
    private static var needsRoot: Bool {
        guard getuid() != 0 else { return false }
        let file = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var digit: UInt8 = 0
        return read(file, &digit, 1) == 1 && digit != UInt8(ascii: "0")
    }
}
