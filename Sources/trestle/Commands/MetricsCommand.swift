import ArgumentParser
import BridgeClient
import BridgeJSON

/// `trestle metrics`
struct MetricsCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics",
        abstract: "Writes the daemon's metrics as OpenMetrics text, for Prometheus and other collectors.",
        discussion: """
            For the textfile collector of node_exporter, write a temporary file and rename it, so that the collector \
            never reads an incomplete file; docs/monitoring.md contains a timer for this.

            EXAMPLES
              trestle metrics
              trestle metrics | grep trestle_calls_total
              trestle metrics > trestle.prom.new && mv trestle.prom.new trestle.prom
            """)

    @OptionGroup var common: CommonOptions
    @ParentCommand var root: Trestle

    func run() async throws {
        try await withClient { client in
            let result = try await client.callPages("bridge.metrics", list: "text")
            guard let text = result["text"]?.stringValue else {
                throw BridgeError(.resultInvalid, "the daemon's metrics are not text")
            }
            Screen.output.write(foreign: text)
        }
    }
}
