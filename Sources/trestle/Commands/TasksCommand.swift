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
              trestle tasks --schemas > tasks.json
            """)

    @OptionGroup var common: CommonOptions
    @ParentCommand var root: Trestle

    @Flag(help: "Show the whole descriptions, with JSON Schemas, as one JSON document.")
    var schemas = false

    func run() async throws {
        guard !schemas else {
            return try await withClient { client in
                screen.show(try await client.callPages("bridge.describe", list: "tasks")["tasks"] ?? [])
            }
        }
        try await showList("bridge.tasks", "tasks", first: ["name", "summary"])
    }
}
