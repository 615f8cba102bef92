import CLibuv
import Glibc

/// The protection of this process's memory against other programs.
public enum ProcessMemory {
    /// Excludes the memory from core files, and from access by debuggers of the same user and through /proc: from now
    /// on only processes of root may read it. Child processes can be read again, but leave no core file either. Any
    /// thread.
    ///
    /// - Returns: Whether both succeeded.
    public static func keepPrivate() -> Bool { clibuv_keep_memory_private() == 0 }

    /// Excludes memory from Swift's crash report on standard error, which contains the registers and the bytes that
    /// they point to if `swift-backtrace` is installed. Does nothing if `SWIFT_BACKTRACE` is set. To be called before
    /// other threads exist.
    public static func keepOutOfCrashReports() {
        guard getenv("SWIFT_BACKTRACE") == nil else { return }
        for number in [SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP] { signal(number, SIG_DFL) }
    }
}
