import BridgeClient
import BridgeJSON
import Glibc

/// The systemd units of a socket at one of their standard paths.
struct ServiceUnit {
    /// Whether the user's service manager runs them, and not the system's.
    private var isUsers: Bool

    /// `nil` if the error names the socket of another user, or if systemd is not running.
    ///
    /// - Parameter error: An error of a connection; its data contains the socket's `path`.
    init?(
        serving error: BridgeError, location: SocketLocation = .current(), isBooted: Bool = Self.isBooted
    ) {
        guard isBooted, let path = error.data?["path"]?.stringValue else { return nil }
        if path == SocketLocation.system {
            isUsers = false
        } else if path == location.ofUserUnit {
            isUsers = true
        } else {
            return nil
        }
    }

    /// Returns the command that shows the state of a unit.
    ///
    /// - Parameter kind: `socket` or `service`.
    func status(of kind: String) -> String { "systemctl \(isUsers ? "--user " : "")status trestle.\(kind)" }

    /// Whether systemd is running, determined as in sd_booted.
    static var isBooted: Bool { access("/run/systemd/system", F_OK) == 0 }
}
