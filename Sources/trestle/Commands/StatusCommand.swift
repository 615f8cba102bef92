import ArgumentParser
import BridgeClient
import BridgeJSON

/// `trestle status`
struct StatusCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Tells how the daemon is: uptime, loop lag, queues, launch workers, calls by task, plugins.",
        discussion: """
            What each figure means: docs/monitoring.md. With --json, or piped: one line of JSON.

            EXAMPLES
              trestle status
              trestle status | jq .callsInFlight
              trestle status --json
            """)

    @OptionGroup var connection: ConnectionOptions
    @ParentCommand var root: Trestle

    @Flag(help: "One line of JSON on a terminal, too.")
    var json = false

    func run() async throws {
        try await withClient { client in
            let status = try await client.callPages("bridge.status", list: "tasks")
            if json {
                Screen.output.write(line: status)
            } else {
                Screen.output.show(report: Screen.output.isTerminal ? Self.readable(status) : status)
            }
        }
    }

    /// The figures of plugins in units that people read.
    static func readable(_ status: JSON) -> JSON {
        guard var report = status.objectValue, let metrics = report["metrics"]?.arrayValue else { return status }
        report["metrics"] = .array(
            metrics.map { metric in
                [
                    "plugin": metric["plugin"] ?? nil, "name": metric["name"] ?? nil,
                    "value": .string(value(of: metric)), "help": metric["help"] ?? nil,
                ]
            })
        return .object(report)
    }

    private static func value(of metric: JSON) -> String {
        guard let value = metric["value"]?.doubleValue else { return "-" }
        switch metric["unit"]?.stringValue {
        case "bytes": return HumanBytes.text(Int64(clamping: value))
        case "seconds": return HumanDuration.text(.seconds(value))
        case let unit: return (metric["value"]?.text ?? "") + (unit.map { " " + $0 } ?? "")
        }
    }
}

extension Int64 {
    /// The nearest integer that there is.
    init(clamping value: Double) {
        self = Int64(exactly: value.rounded()) ?? (value > 0 ? .max : .min)
    }
}
