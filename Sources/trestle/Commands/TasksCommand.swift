import ArgumentParser
import BridgeClient
import BridgeJSON

/// `trestle tasks`
struct TasksCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "tasks",
        abstract: "Lists the tasks that you may call.",
        discussion: """
            EXAMPLES
              trestle tasks
              trestle tasks | jq -r .name
              trestle tasks --json > tasks.json
            """)

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions
    @ParentCommand var root: Trestle

    @Flag(help: "Show all that is known of them, with their JSON Schemas, as one JSON document.")
    var json = false

    func run() async throws {
        guard !json else {
            return try await withClient { client in
                Screen.output.show(try await client.callPages("bridge.describe", list: "tasks")["tasks"] ?? [])
            }
        }
        try await showList("bridge.tasks", "tasks", first: ["name", "summary"], output)
    }
}
