import ArgumentParser
import BridgeClient
import BridgeJSON

/// `trestle describe`
struct DescribeCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "describe",
        abstract: "Describes a task: what it does, its options and its result.",
        discussion: """
            On a terminal, the output is a page of text. In a pipe, it is one line of JSON, in which options, result \
            and progress are JSON Schemas.

            EXAMPLES
              trestle describe Alert
              trestle describe persistence.query | jq .options
            """)

    @OptionGroup var common: CommonOptions
    @ParentCommand var root: Trestle

    @Argument(help: "The task's name.", completion: TaskCompletion.tasks)
    var task: String

    func run() async throws {
        try await withClient { client in
            let description = try await client.callJSON("bridge.describe", ["task": .string(task)])
            let screen = screen
            let page = TaskPage(description, isBold: screen.hasColour)
            if screen.isForPeople { screen.write(page.text) } else { screen.write(line: description) }
        }
    }
}
