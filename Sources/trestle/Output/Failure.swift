import ArgumentParser
import BridgeClient
import BridgeJSON
import EventLoop
import Glibc
import OfflinePackages
import PrivateDaemon

/// An error: the command line is well formed but names something that does not exist or cannot be used. The program
/// ends with EX_USAGE.
struct UsageFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// An error of this program, as opposed to an error of the daemon.
protocol LocalFailure: Error, CustomStringConvertible {
    /// The code that `--json` shows. docs/protocol.md lists these codes.
    static var code: ErrorCode { get }
}

/// Reports failures to the user and by the exit code.
enum Failure {
    /// The call failed.
    static let call = ExitCode(1)
    /// EX_UNAVAILABLE: no daemon answers, or no session bus.
    static let unreachable = ExitCode(69)
    /// EX_TEMPFAIL: the same may succeed later.
    static let transient = ExitCode(75)
    /// EX_NOPERM: a rule forbids it, or this user cannot open the socket.
    static let denied = ExitCode(77)
    /// EX_CONFIG: the daemon's configuration is invalid.
    static let configuration = ExitCode(78)
    /// The exit code of `timeout`.
    static let timeout = ExitCode(124)

    /// Reports an error on one line of standard error. Returns the exit code.
    ///
    /// - Parameter asJSON: Whether to write `{"error":{code,message,…}}`.
    static func report(_ error: any Error, asJSON: Bool = false) -> ExitCode {
        if let error = error as? UsageFailure {
            complain(error.description)
            return .validationFailure
        }
        if asJSON {
            let shown = error as? BridgeError ?? BridgeError(code(of: error), "\(error)")
            Screen.error.write(line: ["error": shown.json])
            return exitCode(error)
        }
        switch error {
        case let error as BridgeError:
            complain(sentence(error))
            return exitCode(error)
        case let error as BusError:
            complain(sentence(error))
            return exitCode(error)
        default:
            complain("\(error)")
            return call
        }
    }

    private static func code(of error: any Error) -> ErrorCode {
        switch error {
        case let error as any LocalFailure: type(of: error).code
        case let fault as PackageFault:
            [.storage, .full].contains(fault.reason) ? "file.failed" : "package.invalid"
        case is BusError: "bus.failed"
        case is SystemError: "system.failed"
        case is MissingPrograms: "program.missing"
        case is PrivateDaemonError: "daemon.failed"
        case is CancellationError: .callCancelled
        default: .internal
        }
    }

    /// Returns the text of an `errno` value: "no such file or directory (ENOENT)".
    static func reason(_ code: Int32) -> String { SystemError(code: code, operation: "").reason }

    private static func exitCode(_ error: any Error) -> ExitCode {
        switch error {
        case let error as BridgeError: exitCode(error)
        case let error as BusError: exitCode(error)
        default: call
        }
    }

    static func exitCode(_ error: BusError) -> ExitCode {
        switch error {
        case .noAddress, .unreachable: unreachable
        case .lost: transient
        case .closed, .refused, .message: call
        }
    }

    static func sentence(_ error: BusError) -> String {
        switch error {
        case .noAddress, .unreachable:
            "\(error): start it in the desktop session, for example with systemctl --user start trestle-present, or "
                + "set DBUS_SESSION_BUS_ADDRESS"
        default: "\(error)"
        }
    }

    static func exitCode(_ error: BridgeError) -> ExitCode {
        switch error.code {
        case .daemonUnreachable: unreachable
        case .connectionDenied, .permissionDenied: denied
        case .callTimeout: timeout
        case _ where error.isTransient: transient
        case .configurationInvalid: configuration
        default: call
        }
    }

    static func sentence(_ error: BridgeError) -> String {
        switch error.code {
        case .daemonUnreachable:
            let unit = ServiceUnit(serving: error).map { "`\($0.status(of: "socket"))` shows the reason" }
            return "\(error.message): \(unit ?? "start it with trestled"), or name its socket with --socket"
        case .connectionDenied:
            return "\(error.message); name another with --socket"
        case "configuration.invalid" where error.isTransient:
            let log = ServiceUnit(serving: error).map { ": `\($0.status(of: "service"))` shows them" } ?? ""
            return "\(error.message)\(log) (\(error.code))"
        default:
            let again = error.retryAfter.map { "; try again after \(HumanDuration.text($0))" } ?? ""
            return "\(error.message) (\(error.code))\(again)"
        }
    }

    static func complain(_ text: String) {
        Screen.error.write("trestle: \(PlainText.line(text))\n")
    }
}
