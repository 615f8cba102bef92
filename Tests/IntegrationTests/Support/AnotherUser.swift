import Glibc
import TestSupport

/// Programs that run as another user.
enum AnotherUser {
    /// Whether this process can run programs as another user that call the daemon.
    static let isPossible = geteuid() == 0 && exists("/usr/bin/setpriv") && exists("/usr/bin/socat")

    /// Sends lines as the specified user. Returns the output.
    static func talk(_ lines: String, uid: Int = 65_534, to daemon: DaemonProcess) throws -> ProgramRun {
        try run(
            "/usr/bin/setpriv",
            [
                "--reuid", "\(uid)", "--regid", "\(uid)", "--clear-groups", "/usr/bin/socat", "-t", "30", "-",
                "UNIX-CONNECT:\(daemon.home.socketPath)",
            ], input: lines)
    }
}
