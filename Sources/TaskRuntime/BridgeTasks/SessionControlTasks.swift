import BridgeJSON

// bridge.session.identify, bridge.session.close: what plugins do to sessions. No client may call them; a plugin that
// runs in a process of its own calls them as one that runs in the daemon's does.
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
        let session = try livingSession(request.session)
        session.user = request.user
        reconsiderProviding(by: session)
        return .object([:])
    }

    private struct Close: Decodable {
        var session: UInt64
        var info: JSON?
    }

    private func closeSession(_ call: Call, _ request: Close) throws(BridgeError) -> JSON {
        let session = try livingSession(request.session)
        if let caller = call.session, caller !== session {
            try check(.close, "", by: caller, to: "close session \(session.number)")
        }
        close(session, info: request.info ?? .null)
        return .object([:])
    }

    private func livingSession(_ number: UInt64) throws(BridgeError) -> Session {
        guard let session = sessions[number], session.phase == .open || session.phase == .inputEnded else {
            throw BridgeError(.sessionNotFound, "there is no session \(number)")
        }
        return session
    }
}
