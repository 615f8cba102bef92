// The errors that come from this library and not from the daemon.

import BridgeJSON

extension BridgeError {
    static func unreachable(_ path: String, _ reason: String) -> BridgeError {
        BridgeError(
            .daemonUnreachable, "no daemon at \(path): \(reason)", data: ["path": .string(path)], isTransient: true)
    }

    /// The socket is there, and not open to all users.
    static func closedToUs(_ path: String) -> BridgeError {
        BridgeError(
            .connectionDenied,
            "the socket \(path) may not be opened by this user: its owner, group and mode say by whom",
            data: ["path": .string(path)])
    }

    /// The daemon closed the connection immediately, and said why.
    static func turnedAway(_ path: String, _ reason: BridgeError) -> BridgeError {
        var error = reason
        var data = error.data?.objectValue ?? [:]
        data["path"] = .string(path)
        error.data = .object(data)
        return error
    }

    /// The end that this program wanted.
    static let closedHere = BridgeError(.sessionClosed, "the connection to the daemon was closed here")

    /// The connection is gone, and no one wanted that.
    static func lost(_ how: String) -> BridgeError {
        BridgeError(.sessionClosed, "the connection to the daemon was lost (\(how))", isTransient: true)
    }

    /// The end that `closeWeb` brings: there shall be no other session.
    static func closedOnPurpose(info: JSON) -> BridgeError {
        BridgeError(.sessionClosed, "the daemon closed this session on purpose (closeWeb)", data: ["info": info])
    }

    /// A call that ended here because its Swift task was cancelled.
    static func cancelledHere(_ task: String, started: Bool?) -> BridgeError {
        BridgeError(
            .callCancelled, "the call of \(task) was cancelled here",
            data: started.map { ["started": .bool($0)] })
    }

    /// What a call ends with that is ended by this error: whether its task may have begun is known.
    func ending(_ task: String, started: Bool) -> BridgeError {
        var error = self
        var data = data?.objectValue ?? [:]
        data["started"] = .bool(started)
        error.data = .object(data)
        error.message +=
            started ? "; the call of \(task) may have had its effect" : "; the call of \(task) had not been sent"
        return error
    }

    /// Whether the daemon stops and has not begun the call.
    var isRefusalOfStoppingDaemon: Bool { code == .daemonStopping && started == false }
}
