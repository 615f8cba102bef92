import ArgumentParser
import BridgeClient
import BridgeJSON

/// `trestle monitor`
struct MonitorCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor",
        abstract: "Shows the traffic of the bridge live, until it is interrupted.",
        discussion: """
            Shows calls and their callbacks, progress, events, calls that are sent to clients, and the decisions of \
            interceptors. Secrets are shown as <private>: options and results of private tasks, and members named \
            password, token, secret or similar. Long payloads are cut. A reader that is too slow loses lines, and an \
            event contains their number. The command's own traffic is not shown. In a pipe, or with --json, it writes \
            one line of JSON for each message. Text is cut to the terminal's width, and only JSON contains all \
            members. Requires the permission bridge.admin, which root and the daemon's user have.

            EXAMPLES
              trestle monitor
              trestle monitor --task 'persistence.*' --uid 1000
              trestle monitor --session 3 | jq 'select(.durationUs > 1000)'
            """)

    @OptionGroup var common: CommonOptions
    @ParentCommand var root: Trestle

    @OptionGroup var choice: TrafficChoice

    func run() async throws {
        try await withClient { client in
            // Subscribes first, so that no line is missed.
            let events = try await client.subscribe(to: "bridge.traffic")
            _ = try await client.callJSON("bridge.monitor", choice.options)
            for try await event in events { show(event) }
        }
    }

    private func show(_ event: BridgeEvent) {
        let screen = screen
        let line: JSON =
            event.name == "bridge.traffic" ? event.data : ["kind": "lost", "count": event.data["count"] ?? nil]
        if screen.isForPeople {
            screen.write(TrafficText.line(line, colour: screen.hasColour) + "\n")
        } else {
            screen.write(line: line)
        }
    }
}
