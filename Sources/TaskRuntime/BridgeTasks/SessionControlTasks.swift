import BridgeJSON

// bridge.session.identify, bridge.session.close: the operations of plugins on sessions. No client may call them. A
// plugin in a process of its own calls them in the same way as a plugin in the daemon's process.
extension TaskRuntime {
    var sessionControlTasks: [BridgeTasks.Task] {
        [
            BridgeTasks.Task(
                "bridge.session.identify", "Names the user that is logged in to a session.", Identify.self,
                isInternal: true
            ) {
                [unowned self] call, options throws(BridgeError) in try identify(options)
            },
            BridgeTasks.Task("bridge.session.close", "Closes a session.", Close.self, isInternal: true) {
                [unowned self] call, options throws(BridgeError) in try closeSession(call, options)
            },
        ]
    }

    private struct Identify: Decodable {
        var session: UInt64
        var user: String?
    }

    private func identify(_ request: Identify) throws(BridgeError) -> JSON {
        try TextBounds.check("$.user", request.user?.utf8.count ?? 0, atMost: TextBounds.name)
        let session = try components.sessions.living(request.session)
        session.user = request.user
        clients.reconsider(session)
        return .object([:])
    }

    private struct Close: Decodable {
        var session: UInt64
        var info: JSON?
    }

    private func closeSession(_ call: Call, _ request: Close) throws(BridgeError) -> JSON {
        let session = try components.sessions.living(request.session)
        if let caller = call.session, caller !== session {
            try rights.check(.close, "", by: caller, to: "close session \(session.number)")
        }
        lifecycle.close(session, info: request.info ?? .null)
        return .object([:])
    }
}
