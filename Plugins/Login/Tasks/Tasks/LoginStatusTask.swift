import TaskKit

/// `login.status`: returns the session's user.
struct LoginStatusTask: ImmediateTask {
    static let name = "login.status"
    static let summary = "Returns the user of the session, and until when its token is valid."
    static let settings = TaskSettings(isPublic: true)

    struct Result: Codable, Sendable {
        /// The user; `nil` (null) if the session is not logged in.
        var user: String?
        /// The token's expiry in milliseconds since 1970, UTC; `nil` (absent) if the session is not logged in or logged
        /// in before this plugin was started.
        var expiresAt: Int64?

        func encode(to encoder: any Encoder) throws {
            var members = encoder.container(keyedBy: CodingKeys.self)
            // The key is present also if the value is null.
            try members.encode(user, forKey: .user)
            try members.encodeIfPresent(expiresAt, forKey: .expiresAt)
        }
    }

    let tokens: SessionTokens

    func run(_ options: Empty, _ call: Call) throws -> Result {
        guard let user = call.caller.user else { return Result() }
        let login = tokens[call.caller.session]
        let isOwn = login?.user.text.utf8.elementsEqual(user.utf8) == true
        return Result(user: user, expiresAt: isOwn ? login?.expiresAt.milliseconds : nil)
    }
}
