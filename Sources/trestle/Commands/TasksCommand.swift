import ArgumentParser

/// `trestle tasks`
struct TasksCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "tasks",
        abstract: "Lists the tasks that you may call.",
        discussion: """
            EXAMPLES
              trestle tasks
              trestle tasks | jq -r .name
            """)

    @OptionGroup var connection: ConnectionOptions
    @ParentCommand var root: Trestle

    func run() async throws {
        try await showList("bridge.tasks", "tasks", first: ["name", "summary"])
    }
}
