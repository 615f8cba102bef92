import CLibuv
import Glibc

/// Who sees what this process has in its memory.
public enum ProcessMemory {
    /// Keeps it from core files, from debuggers of its own user and from /proc: no other process but root's may read it
    /// from here on. What this process starts may be read again, but leaves no core file either. Any thread.
    ///
    /// - Returns: whether both could be had.
    public static func keepPrivate() -> Bool { clibuv_keep_memory_private() == 0 }

    /// Keeps it from what Swift writes to standard error when the process crashes, where `swift-backtrace` is
    /// installed: the registers, and the bytes that they point to. Does nothing where `SWIFT_BACKTRACE` asks for that.
    /// Before there are other threads.
    public static func keepOutOfCrashReports() {
        guard getenv("SWIFT_BACKTRACE") == nil else { return }
        for number in [SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP] { signal(number, SIG_DFL) }
    }
}
