import ArgumentParser
import BridgeClient

/// `trestle status`
struct StatusCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Tells how the daemon is: uptime, loop lag, launch workers, calls by task.",
        discussion: """
            EXAMPLES
              trestle status
              trestle status | jq .callsInFlight
            """)

    @OptionGroup var connection: ConnectionOptions
    @ParentCommand var root: Trestle

    func run() async throws {
        try await withClient { client in
            Screen.output.show(report: try await client.call("bridge.status"))
        }
    }
}
