import ArgumentParser
import BridgeClient
import BridgeJSON

/// `trestle notify`
struct NotifyCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "notify",
        abstract: "Calls a task without waiting for an answer, and shows nothing.",
        discussion: """
            Options are as those of `trestle call`. Whether the call succeeds, or is allowed, is not shown: the daemon \
            sends no callback.

            EXAMPLES
              trestle notify Alert content='Back in five minutes'
              trestle notify lamp.switch on=true --session 7
            """)

    @OptionGroup var common: CommonOptions
    @ParentCommand var root: Trestle

    @OptionGroup var arguments: TaskArguments

    func run() async throws {
        let options = try arguments.json()
        try await withClient { client in try await client.notify(arguments.task, options, session: arguments.session) }
    }
}
