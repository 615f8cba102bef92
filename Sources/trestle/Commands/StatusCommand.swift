import ArgumentParser
import BridgeClient
import BridgeJSON

/// `trestle status`
struct StatusCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows the daemon's state: plugins, calls by task, queues, launch workers.",
        discussion: """
            The summary comes first, and alone with --short. What each metric means: docs/monitoring.md. In a pipe, \
            or with --json: one line of JSON.

            EXAMPLES
              trestle status
              trestle status --short
              trestle status | jq .callsInFlight
              trestle status --format table | less -S
            """)

    @OptionGroup var connection: ConnectionOptions
    @ParentCommand var root: Trestle

    @OptionGroup var output: OutputOptions

    @Flag(help: "The summary alone.")
    var short = false

    @Flag(help: "The same as --format json.")
    var json = false

    func run() async throws {
        try await withClient { client in
            let status = try await client.callPages("bridge.status", list: "tasks")
            let format = json ? .json : output.format(on: .output)
            switch (format, short) {
            case (_, true): Screen.output.show(report: StatusReport.short(status), as: format)
            case (.table, false): Screen.output.show(report: StatusReport.whole(status), as: format)
            case (.json, false): Screen.output.show(report: status, as: format)
            }
        }
    }
}
