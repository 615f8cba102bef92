// CloseWeb: closes the caller's own session or another session.
public import TaskKit

extension Plugin {
    /// Creates the plugin with the task `closeWeb`.
    public static func closeWeb() -> Plugin {
        // The daemon sends this event. Declared, so that no client can publish it: the clients that receive it take it
        // for the end of their session.
        Plugin("closeweb", version: "1.0.0") { CloseWeb() }
            .event("web.close", "A session is being closed: its connection ends next.")
    }
}

/// `closeWeb`: closes a session. A caller that closes its own session gets the answer first.
struct CloseWeb: BridgeTask {
    static let name = "closeWeb"
    static let summary = "Closes the caller's session, or another one if the policy allows it."
    /// For other sessions the daemon checks the policy once more.
    static let settings = TaskSettings(isPublic: true)

    struct Options: Codable, Sendable {
        /// The session to close; `nil` for the caller's own.
        var session: SessionID?
        /// The value that the event `web.close` carries to the session.
        var info: JSON?
    }

    struct Result: Codable, Sendable {
        /// The closed session.
        var session: SessionID
    }

    private struct Done: Decodable, Sendable {}

    func run(_ options: Options, _ call: Call) async throws -> Result {
        let session = options.session ?? call.caller.session
        // The daemon itself has no session, and neither has a plugin that calls in its own name.
        if session == 0 { throw noSession }
        let request: JSON = ["session": session.json, "info": options.info ?? .null]
        if session == call.caller.session {
            closeLater(request, call)
        } else {
            // On behalf of the caller: the daemon decides whether the caller may do it.
            let _: Done = try await call.call("bridge.session.close", request)
        }
        return Result(session: session)
    }

    /// Closes the caller's own session after the call has been answered.
    ///
    /// The order is certain: `run` returns without a suspension, so the call is answered before the loop runs the task
    /// that is created here. The call has ended by then; therefore the plugin calls in its own name.
    private func closeLater(_ request: JSON, _ call: Call) {
        let plugin = call.plugin
        Task(executorPreference: plugin.executor) {
            do throws(BridgeError) {
                let _: Done = try await plugin.call("bridge.session.close", request)
            } catch {
                // A session that is closed already is no error.
                if error.code != .sessionNotFound { plugin.log.error("a session was not closed: \(error)") }
            }
        }
    }

    private var noSession: BridgeError {
        BridgeError(
            JSONMismatch(path: "$.session", expected: "the number of a session, more than 0", got: "no session"))
    }
}
