// The errors that this library makes, as opposed to those of the daemon.

import BridgeJSON

extension BridgeError {
    static func unreachable(_ path: String, _ reason: String) -> BridgeError {
        BridgeError(
            .daemonUnreachable, "no daemon at \(path): \(reason)", data: ["path": .string(path)], isTransient: true)
    }

    /// Returns the error for a socket that exists but that this user may not open.
    static func closedToUs(_ path: String) -> BridgeError {
        BridgeError(
            .connectionDenied,
            "the socket \(path) may not be opened by this user: see its owner, group and mode",
            data: ["path": .string(path)])
    }

    /// Returns the error for a connection that the daemon closed immediately with a reason.
    static func turnedAway(_ path: String, _ reason: BridgeError) -> BridgeError {
        var error = reason
        var data = error.data?.objectValue ?? [:]
        data["path"] = .string(path)
        error.data = .object(data)
        return error
    }

    /// The error if this program closed the connection.
    static let closedHere = BridgeError(.sessionClosed, "the connection to the daemon was closed here")

    /// Returns the error for a connection that was lost unintentionally.
    static func lost(_ how: String) -> BridgeError {
        BridgeError(.sessionClosed, "the connection to the daemon was lost (\(how))", isTransient: true)
    }

    /// Returns the error for a session that `closeWeb` ended: the client must not reconnect.
    static func closedOnPurpose(info: JSON) -> BridgeError {
        BridgeError(.sessionClosed, "the daemon closed this session on purpose (closeWeb)", data: ["info": info])
    }

    /// Returns the error for a call that ended here because its Swift task was cancelled.
    static func cancelledHere(_ task: String, started: Bool?) -> BridgeError {
        BridgeError(
            .callCancelled, "the call of \(task) was cancelled here",
            data: started.map { ["started": .bool($0)] })
    }

    /// Returns the error of a call that ends because of this error. `started` is whether its task may have begun.
    func ending(_ task: String, started: Bool) -> BridgeError {
        var error = self
        var data = data?.objectValue ?? [:]
        data["started"] = .bool(started)
        error.data = .object(data)
        error.message +=
            started ? "; the call of \(task) may have had its effect" : "; the call of \(task) had not been sent"
        return error
    }

    /// Whether the daemon may have done the work of a call that ended here.
    var mayHaveEffect: Bool { [.callCancelled, .callTimeout].contains(code) && started != false }

    /// Whether the daemon is stopping and has not begun the call.
    var isRefusalOfStoppingDaemon: Bool { code == .daemonStopping && started == false }
}
