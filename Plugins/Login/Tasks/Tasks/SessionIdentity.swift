import TaskKit

/// Informs the daemon and the subscribers about the user of a session.
enum SessionIdentity {
    /// The event of a login and of a logout: `{session, user}`; `user` is null after a logout.
    static let event = "login.changed"

    /// Sets a session's user on behalf of a call, and sends the event.
    static func set(_ user: UserName, of session: SessionID, for call: Call) async throws(BridgeError) {
        let identity = describe(session, user)
        let _: Empty = try await call.call("bridge.session.identify", identity)
        call.publish(event, identity)
    }

    /// Removes a session's user, in the plugin's own name, and sends the event. Does nothing for a closed session.
    static func clear(_ session: SessionID, in plugin: PluginContext) async throws(BridgeError) {
        let identity = describe(session, nil)
        do throws(BridgeError) {
            let _: Empty = try await plugin.call("bridge.session.identify", identity)
        } catch {
            if error.code == .sessionNotFound { return }
            throw error
        }
        plugin.publish(event, identity)
    }

    /// Requests from the daemon the sessions that are logged in as `user`, including those that logged in before this
    /// plugin was started.
    static func sessions(of user: UserName, in plugin: PluginContext) async throws(BridgeError) -> [SessionID] {
        struct Sessions: Decodable, Sendable {
            struct Session: Decodable, Sendable {
                var session: SessionID
                var user: String?
            }
            var sessions: [Session]
            var cursor: String?
        }
        struct Page: Encodable, Sendable {
            var cursor: String?
        }
        var found: [SessionID] = []
        var page = Page()
        while true {
            let listed: Sessions = try await plugin.call("bridge.sessions", page)
            found += listed.sessions.filter { $0.user.flatMap { UserName($0) } == user }.map(\.session)
            // Stops at a repeated cursor, which would cause an endless loop.
            guard let next = listed.cursor, next != page.cursor else { return found }
            page.cursor = next
        }
    }

    private static func describe(_ session: SessionID, _ user: UserName?) -> JSON {
        ["session": session.json, "user": user.map { .string($0.text) } ?? .null]
    }
}

extension PluginContext {
    /// Runs `body` to its end, even if the call ends before, and waits for it.
    ///
    /// It starts immediately, before anything else runs on the loop.
    func toTheEnd<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) async throws -> T {
        try await Task.immediate(executorPreference: executor, operation: body).value
    }
}
