// CloseWeb: ends the session of a page, its own or another.
public import TaskKit

extension Plugin {
    /// The plugin whose one task is `closeWeb`.
    public static func closeWeb() -> Plugin {
        Plugin("closeweb", version: "1.0.0") { CloseWeb() }
    }
}

/// `closeWeb`: closes a session. A caller that closes its own session gets the answer first.
struct CloseWeb: BridgeTask {
    static let name = "closeWeb"
    static let summary = "Closes the caller's own session, or another one that the policy lets it close."
    /// Of other sessions the daemon asks the policy once more.
    static let settings = TaskSettings(isPublic: true)

    struct Options: Codable, Sendable {
        /// The session to close; nil: the caller's own.
        var session: SessionID?
        /// Handed to the session with the event `web.close`.
        var info: JSON?
    }

    struct Result: Codable, Sendable {
        /// The session that is closed.
        var session: SessionID
    }

    private struct Done: Decodable, Sendable {}

    func run(_ options: Options, _ call: Call) async throws -> Result {
        let session = options.session ?? call.caller.session
        // The daemon itself, and a plugin in its own name, have no session.
        if session == 0 { throw noSession }
        let request: JSON = ["session": session.json, "info": options.info ?? .null]
        if session == call.caller.session {
            closeLater(request, call)
        } else {
            // On behalf of the caller: the daemon decides whether they may.
            let _: Done = try await call.call("bridge.session.close", request)
        }
        return Result(session: session)
    }

    /// Closes the caller's own session after the call has been answered.
    ///
    /// The order is certain: this function's caller returns without a suspension, so its answer is given before the
    /// loop turns to the task that is made here. By then the call has ended; hence the plugin's own name.
    private func closeLater(_ request: JSON, _ call: Call) {
        let plugin = call.plugin
        Task(executorPreference: plugin.executor) {
            do throws(BridgeError) {
                let _: Done = try await plugin.call("bridge.session.close", request)
            } catch {
                // A session that is gone already is what was wanted.
                if error.code != .sessionNotFound { plugin.log.error("a session was not closed: \(error)") }
            }
        }
    }

    private var noSession: BridgeError {
        BridgeError(
            JSONMismatch(path: "$.session", expected: "the number of a session, more than 0", got: "no session"))
    }
}
