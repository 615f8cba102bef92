import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("Metrics of a plugin", .blocking)
struct MetricTests {
    /// Returns the plugin's metrics in the status, by name and unit, as soon as they satisfy the condition.
    private func figures(_ client: Wire, until isWanted: ([String: JSON]) -> Bool) throws -> [String: JSON] {
        func byName(_ status: JSON) -> [String: JSON] {
            let all = (status["metrics"]?.arrayValue ?? []).filter { $0["plugin"] == "specimen" }
            let named = all.map { figure in
                (["name", "unit"].compactMap { figure[$0]?.stringValue }.joined(separator: "_"), figure)
            }
            return Dictionary(named) { first, _ in first }
        }
        return byName(try client.result("bridge.status") { isWanted(byName($0)) })
    }

    @Test(
        "are identified by name and unit, with the same rules in each isolation", arguments: ["none", "process"])
    func rules(isolation: String) throws {
        let folder = try TemporaryFolder()
        var plugin = PluginInC()
        plugin.definitions = """
            #include <stdio.h>
            static uint32_t figure(const char *name, const char *unit, uint32_t kind) {
                return host->metric(host, &(trestle_metric){.size = sizeof(trestle_metric), .abi = TRESTLE_ABI,
                    .name = text(name), .unit = text(unit), .help = text("A figure."), .kind = kind});
            }
            """
        plugin.call = """
            uint32_t bytes = figure("file", "bytes", TRESTLE_METRIC_GAUGE), files = figure("file", "", TRESTLE_METRIC_GAUGE);
            host->metric_set(host, bytes, 12);
            host->metric_set(host, files, 3);
            uint32_t again = figure("file", "bytes", TRESTLE_METRIC_GAUGE);
            uint32_t other = figure("file", "bytes", TRESTLE_METRIC_COUNTER), bad = figure("No Name", "", TRESTLE_METRIC_GAUGE);
            uint32_t number = 1;
            for (int i = 0; i < 64 && number; i++) {
                char name[16];
                snprintf(name, sizeof name, "more%d", i);
                number = figure(name, "", TRESTLE_METRIC_GAUGE);
            }
            char answer[64];
            snprintf(answer, sizeof answer, "[%s,%u,%u,%u]", again == bytes ? "true" : "false", other, bad, number);
            host->reply(host, request->call, text(answer));
            """
        try plugin.build(in: folder)
        let section = "[plugins.specimen]\nisolation = \"\(isolation)\""
        try withDaemon(section, pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            #expect(try client.result("specimen") == [true, 0, 0, 0])
            let all = try figures(client) { $0["file"]?["value"] == 3 && $0["file_bytes"]?["value"] == 12 }
            #expect(all.count == 64 && all["file_bytes"]?["kind"] == "gauge")
            for reason in ["file is a gauge already", "No Name", "64 metrics at most"] {
                try daemon.awaitLog(reason, client)
            }
        }
    }

    @Test("of a pool are sums: counters over all processes, including ended ones, and gauges over the current ones")
    func pool() throws {
        let folder = try TemporaryFolder()
        var process = PluginInPython(settings: "[pool]\nmin = 2\nmax = 2\nper = \"session\"\nuses = 1")
        process.start = "counts = {}"
        process.call = """
            made = m["options"]
            counts["made"] = counts.get("made", 0) + made
            say({"task": "plugin.metrics", "options": {"metrics": [
                {"name": "made", "kind": "counter", "value": counts["made"]},
                {"name": "open", "kind": "gauge", "value": made}]}})
            say({"callbackId": id, "result": counts["made"]})
            """
        try process.write(to: folder)
        try withDaemon(pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            let one = try daemon.connect()
            let other = try daemon.connect()
            #expect(try one.result("specimen", 2) == 2)
            #expect(try other.result("specimen", 10) == 10)
            #expect(try one.result("specimen", 5) == 7)
            let all = try figures(client) { _ in true }
            #expect(all["made"]?["value"] == 17 && all["open"]?["value"] == 15, "\(all)")
            // The process of this session is not used again.
            one.close()
            let left = try figures(client) { $0["open"]?["value"] == 10 }
            #expect(left["made"]?["value"] == 17, "\(left)")
        }
    }

    @Test("of a library are reported before it stops")
    func last() throws {
        let folder = try TemporaryFolder()
        var plugin = PluginInC()
        plugin.call = """
            uint32_t made = host->metric(host, &(trestle_metric){.size = sizeof(trestle_metric), .abi = TRESTLE_ABI,
                .name = text("made"), .help = text("A figure."), .kind = TRESTLE_METRIC_COUNTER});
            host->metric_add(host, made, 1);
            host->reply(host, request->call, text("{}"));
            """
        try plugin.build(in: folder)
        let section = "[plugins.specimen]\npool = { min = 1, max = 1, uses = 1 }"
        try withDaemon(section, pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            for _ in 1...3 { _ = try client.result("specimen") }
            let all = try figures(client) { $0["made"]?["value"] == 3 }
            #expect(all["made"]?["kind"] == "counter")
        }
    }
}
