import Glibc
import PrivateDaemon

/// Settings that make a crash report of a plugin process contain file and line.
enum CrashReports {
    /// For SWIFT_BACKTRACE: only the crashed thread, without a terminal, short enough for the log.
    private static let settings =
        "enable=yes,color=no,interactive=no,threads=crashed,registers=none,images=none,limit=16,output-to=stderr"

    /// Returns variables for the daemon, which plugin processes inherit. Swift's runtime also reports crashes of C
    /// code. Variables that the user has set stay unchanged. Blocks.
    static func environment() -> [String: String] {
        var variables: [String: String] = [:]
        if getenv("PYTHONFAULTHANDLER") == nil { variables["PYTHONFAULTHANDLER"] = "1" }
        guard getenv("SWIFT_BACKTRACE") == nil, let reporter else { return variables }
        variables["SWIFT_BACKTRACE"] = "\(settings),swift-backtrace=\(reporter)"
        return variables
    }

    /// The program that writes the report for Swift's runtime; `nil` without a toolchain. An installed Trestle contains
    /// only the runtime.
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

/// The way to attach a debugger to a plugin process.
enum DebuggerHint {
    /// Returns a command for the shell. Blocks.
    static func command(for pid: Int64) -> String {
        let found = ["gdb", "lldb"].first { name in
            TrestlePrograms.searchPath.contains { access("\($0)/\(name)", X_OK) == 0 }
        }
        return "\(needsRoot ? "sudo " : "")\(found ?? "gdb") -p \(pid)"
    }

    /// Whether the kernel allows only root to attach to a process that is not a child of the debugger (the Yama
    /// module).
    private static var needsRoot: Bool {
        guard getuid() != 0 else { return false }
        let file = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var digit: UInt8 = 0
        return read(file, &digit, 1) == 1 && digit != UInt8(ascii: "0")
    }
}
