import ArgumentParser
import BridgeClient
import BridgeJSON

/// `trestle user`
struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: "Manages the accounts of the login plugin.",
        discussion: """
            Requires the permission accounts.manage, which root and the daemon's user have. The commands ask for \
            passwords on the terminal. If standard input is not a terminal, its first line is the password. Passwords \
            are never taken from the command line.

            EXAMPLES
              trestle user add ann
              pass show bridge/ann | trestle user password ann
              trestle user list
              trestle user remove ann
            """,
        subcommands: [Add.self, Password.self, List.self, Remove.self])

    /// `trestle user add`
    struct Add: BridgeCommand {
        static let configuration = CommandConfiguration(
            abstract: "Adds an account.",
            discussion: """
                EXAMPLES
                  trestle user add ann
                  echo "$PASSWORD" | trestle user add ann
                """)

        @OptionGroup var common: CommonOptions
        @ParentCommand var root: Trestle
        @Argument(help: "The user's name.") var user: String

        func run() async throws { try await setPassword("login.users.add", user) }
    }

    /// `trestle user password`
    struct Password: BridgeCommand {
        static let configuration = CommandConfiguration(
            commandName: "password",
            abstract: "Changes the password of an account and logs its sessions out.",
            discussion: """
                EXAMPLES
                  trestle user password ann
                  echo "$PASSWORD" | trestle user password ann
                """,
            aliases: ["passwd"])

        @OptionGroup var common: CommonOptions
        @ParentCommand var root: Trestle
        @Argument(help: "The user's name.") var user: String

        func run() async throws { try await setPassword("login.users.passwd", user) }
    }

    /// `trestle user list`
    struct List: BridgeCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists the accounts.",
            discussion: """
                EXAMPLES
                  trestle user list
                  trestle user list | jq -r .user
                """,
            aliases: ["ls"])

        @OptionGroup var common: CommonOptions
        @ParentCommand var root: Trestle

        func run() async throws { try await showList("login.users.list", "users", first: ["user"]) }
    }

    /// `trestle user remove`
    struct Remove: BridgeCommand {
        static let configuration = CommandConfiguration(
            abstract: "Removes an account and logs its sessions out.",
            discussion: """
                EXAMPLES
                  trestle user remove ann
                """,
            aliases: ["rm"])

        @OptionGroup var common: CommonOptions
        @ParentCommand var root: Trestle
        @Argument(help: "The user's name.") var user: String

        func run() async throws {
            try await withClient { client in
                _ = try await client.callJSON("login.users.remove", ["user": .string(user)])
            }
        }
    }
}

extension BridgeCommand {
    /// Asks for a password and passes it to a task.
    fileprivate func setPassword(_ task: String, _ user: String) async throws {
        try await withClient { client in
            let password = try await PasswordPrompt.newPassword(for: user)
            _ = try await client.callJSON(task, ["user": .string(user), "password": .string(password)])
        }
    }
}
