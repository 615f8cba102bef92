import TaskKit

/// `logout`: revokes the token that the session logged in with, and removes its identity.
struct LogoutTask: BridgeTask {
    static let name = "logout"
    static let summary = "Logs the session out and revokes its token; does nothing if it is not logged in."
    static let settings = TaskSettings(isPublic: true)

    let service: LoginService
    let tokens: SessionTokens

    func run(_ options: Empty, _ call: Call) async throws -> Empty {
        let session = call.caller.session
        let login = tokens[session]
        if login == nil, call.caller.user == nil { return Empty() }
        let plugin = call.plugin
        try await plugin.toTheEnd {
            // The token first: if that fails, the session is still logged in and may try again.
            if let login { try await service.database.perform { try $0.revoke(login.token) } }
            // A login that happened in the meantime stays.
            if tokens.forget(login, of: session) { try await SessionIdentity.clear(session, in: plugin) }
        }
        return Empty()
    }
}
