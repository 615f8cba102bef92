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

    @OptionGroup var connection: ConnectionOptions
    @ParentCommand var root: Trestle

    @Argument(help: "The task's name.", completion: TaskCompletion.tasks)
    var task: String

    @Argument(
        help: ArgumentHelp(
            "The options; - reads them from standard input. Without any: {}.", valueName: "json | key=value | -"),
        completion: TaskCompletion.options)
    var options: [String] = []

    @Option(help: ArgumentHelp("Only the task that this session registered.", valueName: "number"))
    var session: UInt64?

    func validate() throws {
        if options != ["-"] { _ = try CallArguments.options(options) }
    }

    func run() async throws {
        let options = options == ["-"] ? try StandardInput.json() : try CallArguments.options(self.options)
        try await withClient { client in try await client.notify(task, options, session: session) }
    }
}
