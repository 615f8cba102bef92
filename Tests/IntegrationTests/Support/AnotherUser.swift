import Glibc
import TestSupport

/// Programs that run as another user.
enum AnotherUser {
    /// Whether this process can make others run as another user, and talk to the daemon from there.
    static let isPossible = geteuid() == 0 && exists("/usr/bin/setpriv") && exists("/usr/bin/socat")

    /// Sends lines as that user; returns what came.
    static func talk(_ lines: String, uid: Int = 65_534, to daemon: DaemonProcess) throws -> ProgramRun {
        try run(
            "/usr/bin/setpriv",
            [
                "--reuid", "\(uid)", "--regid", "\(uid)", "--clear-groups", "/usr/bin/socat", "-t", "30", "-",
                "UNIX-CONNECT:\(daemon.home.socketPath)",
            ], input: lines)
    }
}
