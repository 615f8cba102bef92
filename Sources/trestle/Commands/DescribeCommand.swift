import ArgumentParser
import BridgeClient
import BridgeJSON

/// `trestle describe`
struct DescribeCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "describe",
        abstract: "Describes a task: what it does, its options and its result.",
        discussion: """
            Options and result are shown as JSON Schema.

            EXAMPLES
              trestle describe Alert
              trestle describe persistence.query | jq .options
            """)

    @OptionGroup var connection: ConnectionOptions
    @ParentCommand var root: Trestle

    @Argument(help: "The task's name.")
    var task: String

    func run() async throws {
        try await withClient { client in
            let description = try await client.call("bridge.describe", options: ["task": .string(task)])
            Screen.output.show(report: Screen.output.isTerminal ? forPeople(description) : description)
        }
    }

    /// The schema `true` says that anything goes, which is not what it looks like.
    private func forPeople(_ description: JSON) -> JSON {
        guard case .object(var members) = description else { return description }
        for key in ["options", "result"] where members[key] == true { members[key] = "any JSON" }
        return .object(members)
    }
}
