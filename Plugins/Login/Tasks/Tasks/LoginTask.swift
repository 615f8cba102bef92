import TaskKit

/// `login`: by user and password, or by the token of an earlier login.
struct LoginTask: BridgeTask {
    static let name = "login"
    static let summary = "Logs the session in, by user and password or by the token of an earlier login."
    static let settings = TaskSettings(isPublic: true, isPrivate: true)
    static let optionsSchema: JSON? = [
        "type": "object",
        "properties": [
            "user": SecretSchema.user, "password": SecretSchema.password, "token": SecretSchema.token,
        ],
        "oneOf": [["required": ["user", "password"]], ["required": ["token"]]],
    ]

    enum Options: Decodable, Sendable {
        case password(UserName, Secret)
        case token(Secret)

        init(from decoder: any Decoder) throws {
            let options = try SecretOptions(from: decoder)
            let byPassword = options.has("user") || options.has("password")
            switch (byPassword, options.has("token")) {
            case (true, false): self = .password(try options.userName(), try options.password())
            case (false, true): self = .token(try options.token())
            case (true, true), (false, false):
                throw JSONMismatch(
                    path: "$", expected: "user and password, or token", got: byPassword ? "both" : "neither")
            }
        }
    }

    struct Result: Codable, Sendable {
        var user: String
        /// The token for `login` {token}. A login by token returns the same token.
        var token: String
        /// The token's expiry in milliseconds since 1970, UTC, like JavaScript's `Date`. The session stays logged in
        /// after that time, until it logs out or closes.
        var expiresAt: Int64
    }

    let service: LoginService
    let tokens: SessionTokens

    func run(_ options: Options, _ call: Call) async throws -> Result {
        try service.admit(session: call.caller.session, uid: call.caller.uid)
        let grant: Grant
        let isNew: Bool
        switch options {
        case .password(let user, let password):
            grant = try await service.logIn(user, password, uid: call.caller.uid)
            isNew = true
        case .token(let token):
            grant = try await service.logIn(token)
            isNew = false
        }
        do {
            try await begin(grant, call)
        } catch {
            // No client will receive the new token.
            if isNew {
                service.database.revokeSoon(grant.tokenHash) {
                    call.log.warning("an unused token could not be revoked: \($0)")
                }
            }
            throw error
        }
        return Result(user: grant.user.text, token: grant.token, expiresAt: grant.expiresAt.milliseconds)
    }

    /// Gives the session its identity.
    ///
    /// There is no suspension between the answer of the account store and the daemon's task. So calls to the daemon
    /// have the order of the store's operations: a call that removes a user or changes a password finds every session
    /// that logged in before.
    private func begin(_ grant: Grant, _ call: Call) async throws {
        let session = call.caller.session
        let login = tokens.note(grant, of: session)
        do {
            try await SessionIdentity.set(grant.user, of: session, for: call)
        } catch {
            // The call was cancelled, or the session has closed: no other code removes a login that was stored too
            // late.
            tokens.forget(login, of: session)
            throw error
        }
    }
}
