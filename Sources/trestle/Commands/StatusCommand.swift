import ArgumentParser
import BridgeClient
import BridgeJSON

/// `trestle status`
struct StatusCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows the daemon's state: plugins, calls by task, queues, launch workers.",
        discussion: """
            The summary comes first; with --short, it is the only output. docs/monitoring.md describes each metric. In \
            a pipe, or with --json, the output is one line of JSON.

            EXAMPLES
              trestle status
              trestle status --short
              trestle status | jq .callsInFlight
              trestle status --text | less -S
            """)

    @OptionGroup var common: CommonOptions
    @ParentCommand var root: Trestle

    @Flag(help: "Only the summary.")
    var short = false

    func run() async throws {
        try await withClient { client in
            let status = try await client.callPages("bridge.status", list: "tasks")
            let screen = screen
            if short {
                screen.show(report: StatusReport.short(status))
            } else {
                screen.show(report: screen.isForPeople ? StatusReport.whole(status) : status)
            }
        }
    }
}
