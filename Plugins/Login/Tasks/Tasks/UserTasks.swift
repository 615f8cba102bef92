import TaskKit

// login.users.…: the accounts. These tasks have their own permission, which no rule about `login.*` covers, and are not
// public.

/// The constants that the tasks share.
enum AccountTasks {
    /// The permission of the tasks. A caller that has it can log in as any user.
    static let permission = "accounts.manage"
}

/// The options of the tasks that name a user and a password.
struct Credentials: Decodable, Sendable {
    let user: UserName
    let password: Secret

    static let schema = SecretSchema.object(["user": SecretSchema.user, "password": SecretSchema.password])

    init(from decoder: any Decoder) throws {
        let options = try SecretOptions(from: decoder)
        user = try options.userName()
        password = try options.password()
    }
}

/// `login.users.add`
struct AddUserTask: BridgeTask {
    static let name = "login.users.add"
    static let summary = "Adds an account with a password."
    static let settings = TaskSettings(permission: AccountTasks.permission, isPrivate: true)
    static let optionsSchema: JSON? = Credentials.schema

    let service: LoginService

    func run(_ options: Credentials, _ call: Call) async throws -> Empty {
        try await service.add(options.user, options.password, uid: call.caller.uid)
        return Empty()
    }
}

/// `login.users.passwd`
struct ChangePasswordTask: BridgeTask {
    static let name = "login.users.passwd"
    static let summary = "Gives an account another password, revokes its tokens and logs its sessions out."
    static let settings = TaskSettings(permission: AccountTasks.permission, isPrivate: true)
    static let optionsSchema: JSON? = Credentials.schema

    let service: LoginService
    let tokens: SessionTokens

    func run(_ options: Credentials, _ call: Call) async throws -> Empty {
        let uid = call.caller.uid
        let plugin = call.plugin
        try await plugin.toTheEnd {
            try await service.setPassword(options.user, options.password, uid: uid)
            try await tokens.logOut(options.user, in: plugin)
        }
        return Empty()
    }
}

/// `login.users.remove`
struct RemoveUserTask: BridgeTask {
    static let name = "login.users.remove"
    static let summary = "Removes an account with its tokens and logs its sessions out."
    static let settings = TaskSettings(permission: AccountTasks.permission)
    static let optionsSchema: JSON? = SecretSchema.object(["user": SecretSchema.user])

    struct Options: Decodable, Sendable {
        let user: UserName

        init(from decoder: any Decoder) throws {
            user = try SecretOptions(from: decoder).userName()
        }
    }

    let service: LoginService
    let tokens: SessionTokens

    func run(_ options: Options, _ call: Call) async throws -> Empty {
        let plugin = call.plugin
        try await plugin.toTheEnd {
            try await service.remove(options.user)
            try await tokens.logOut(options.user, in: plugin)
        }
        return Empty()
    }
}

/// `login.users.list`
struct ListUsersTask: BridgeTask {
    static let name = "login.users.list"
    static let summary = "Lists the accounts, by name, in pages."
    static let settings = TaskSettings(permission: AccountTasks.permission)

    /// The maximum number of accounts in a page, as in the daemon's tables. With the longest names the page has 80 KB.
    static let maximumAccounts = 128

    struct Options: Codable, Sendable {
        /// The maximum number of accounts.
        var limit: Int?
        /// The cursor of the previous page, which is the name of its last account; `nil` for the first page.
        var cursor: String?
    }

    struct Result: Codable, Sendable {
        var users: [AccountSummary]
        /// The cursor for the next page; `nil` in the last one.
        var cursor: String?
    }

    let service: LoginService

    func run(_ options: Options, _ call: Call) async throws -> Result {
        let limit = options.limit ?? Self.maximumAccounts
        guard (1...Self.maximumAccounts).contains(limit) else {
            throw BridgeError(
                JSONMismatch(
                    path: "$.limit", expected: "an integer from 1 to \(Self.maximumAccounts)", got: "number \(limit)"))
        }
        let last = options.cursor.map(UserName.init)
        if case .some(nil) = last {
            throw BridgeError(
                JSONMismatch(path: "$.cursor", expected: "a cursor of this task", got: "an invalid string"))
        }
        // One more than shown, to know whether there are more.
        let users = try await service.list(after: last ?? nil, limit: limit + 1)
        let hasMore = users.count > limit
        let shown = Array(users.prefix(limit))
        return Result(users: shown, cursor: hasMore ? shown.last?.user : nil)
    }
}

extension SessionTokens {
    /// Removes the identity of every session that is logged in as `user`.
    fileprivate func logOut(_ user: UserName, in plugin: PluginContext) async throws(BridgeError) {
        for session in try await SessionIdentity.sessions(of: user, in: plugin) {
            forget(session)
            try await SessionIdentity.clear(session, in: plugin)
        }
    }
}
