import BridgeClient
import BridgeJSON
import Glibc

/// The systemd units behind a socket at one of their paths.
struct ServiceUnit {
    /// Whose manager runs them: the machine's, or the user's own.
    private var isUsers: Bool

    /// Nil: the error names a socket of another user, or systemd does not run here.
    ///
    /// - Parameter error: of a connection: its data has the socket's `path`.
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

    /// The command that shows how a unit is.
    ///
    /// - Parameter kind: `socket` or `service`.
    func status(of kind: String) -> String { "systemctl \(isUsers ? "--user " : "")status trestle.\(kind)" }

    /// As sd_booted has it.
    static var isBooted: Bool { access("/run/systemd/system", F_OK) == 0 }
}
