import BridgeJSON
import BridgeMessage
import TestSupport
import Testing

@testable import TaskRuntime

@Suite("Metrics for monitoring systems")
struct MetricsTests {
    let bench = Bench()

    private func metrics() throws -> OpenMetrics {
        let client = bench.client()
        client.send(#"{"task":"bridge.metrics","callbackId":1}"#)
        let text = try #require(client.readOne()?["result"]?["text"]?.stringValue)
        return try OpenMetrics(text)
    }

    @Test("Metrics follow the grammar of OpenMetrics, and count calls by outcome")
    func calls() throws {
        let client = bench.client()
        for id in 0..<5 { client.send(#"{"task":"work","callbackId":\#(id)}"#) }
        bench.clock.advance(.milliseconds(3))
        for index in 0..<3 { bench.reply(index, "1") }
        bench.instance.fail(bench.host.started[3].handle, BridgeError("a.b", "no"))
        client.send(#"{"task":"Nope","callbackId":9}"#)
        let metrics = try metrics()
        let labels = ["task": "work"]
        #expect(metrics.value("trestle_calls_total", labels) == 5)
        #expect(metrics.value("trestle_call_errors_total", labels) == 1)
        #expect(metrics.value("trestle_calls_in_flight", labels) == 1)
        #expect(metrics.value("trestle_call_duration_seconds_count", labels) == 4)
        #expect(metrics.value("trestle_call_duration_seconds_sum", labels) == 0.012)
        #expect(metrics.value("trestle_calls_refused_total") == 1)
        #expect(metrics.value("trestle_sessions") == 2)
        #expect(metrics.value("trestle_build_info", ["version": "1.2.3"]) == 1)
        #expect(metrics.value("trestle_plugin_up", ["plugin": "worker"]) == 1)
        #expect(metrics.family("trestle_call_duration_seconds")?.unit == "seconds")
        #expect(metrics.families.allSatisfy { $0.help?.hasSuffix(".") == true })
        // No process metrics have been set.
        #expect(metrics.family("process_cpu_seconds") == nil)
    }

    @Test("Each histogram bucket counts the calls that took no longer than its bound")
    func buckets() throws {
        let client = bench.client()
        let durations: [UInt64] = [0, 4_095, 4_096, 16_383, 16_384, 1_000_000, 68_719_476_735, 68_719_476_736]
        for (id, nanoseconds) in durations.enumerated() {
            client.send(#"{"task":"slow","callbackId":\#(id)}"#)
            bench.clock.advance(.nanoseconds(Int64(nanoseconds)))
            bench.reply(id, "1")
        }
        let family = try #require(try metrics().family("trestle_call_duration_seconds"))
        let buckets = family.samples.filter { $0.name.hasSuffix("_bucket") && $0.labels["task"] == "slow" }
        #expect(buckets.count == 14)
        for bucket in buckets {
            let bound = try #require(Double((bucket.labels["le"] ?? "").replacing("+Inf", with: "inf")))
            #expect(bucket.value == Double(durations.count { Double($0) / 1e9 <= bound }), "\(bucket)")
        }
    }

    @Test("Process metrics are reported if they are available")
    func process() throws {
        bench.runtime.processMetrics = {
            ProcessMetrics(
                cpuSeconds: 1.25, residentBytes: 4_096, virtualBytes: 8_192, openDescriptors: 12,
                maximumDescriptors: nil, startSeconds: 1_700_000_000.5)
        }
        let metrics = try metrics()
        #expect(metrics.value("process_cpu_seconds_total") == 1.25)
        #expect(metrics.value("process_resident_memory_bytes") == 4_096)
        #expect(metrics.value("process_max_fds") == .infinity)
        #expect(metrics.value("process_start_time_seconds") == 1_700_000_000.5)
    }

    @Test("Special characters in task names, labels and help texts are escaped")
    func escaping() throws {
        _ = bench.add("odd", tasks: [TaskDescription(name: #"a"b\c"#)], FakeHost())
        bench.client().send(#"{"task":"a\"b\\c","callbackId":1}"#)
        #expect(try metrics().value("trestle_calls_total", ["task": #"a"b\c"#]) == 1)
        var text = OpenMetricsText()
        text.begin("x", .gauge, "Two\nlines, \"quoted\" and \\.")
        text.add(.init(1), ["l": "a\nb"])
        let read = try OpenMetrics(text.finished())
        #expect(read.family("x")?.help == "Two\nlines, \"quoted\" and \\.")
        #expect(read.value("x", ["l": "a\nb"]) == 1)
    }

    @Test("Names of plugin metrics contain the plugin's name, and no name is used twice")
    func pluginFigures() throws {
        func declare(_ instance: PluginInstance, _ name: String, _ kind: MetricDeclaration.Kind, _ unit: String?) throws
            -> Int
        {
            try instance.metrics.declare(.init(name: name, kind: kind, unit: unit, help: "A figure."))
        }
        let dashed = bench.add("my-store", tasks: [], FakeHost())
        let other = bench.add("my_store", tasks: [], FakeHost())
        dashed.metrics.set(try declare(dashed, "file", .gauge, "bytes"), 12.5)
        dashed.metrics.add(try declare(dashed, "commits", .counter, nil), 3)
        other.metrics.set(try declare(other, "file", .gauge, "bytes"), 99)
        _ = try declare(bench.add("calls", tasks: [], FakeHost()), "waiting", .gauge, nil)
        let metrics = try metrics()
        #expect(metrics.value("trestle_plugin_my_store_file_bytes") == 12.5)
        #expect(metrics.value("trestle_plugin_my_store_commits_total") == 3)
        #expect(metrics.value("trestle_plugin_calls_waiting", ["plugin": "worker"]) == 0)
        let status = try #require(client("bridge.status"))
        #expect(
            status["metrics"]?[0] == [
                "plugin": "my-store", "name": "file", "kind": "gauge", "value": 12.5, "unit": "bytes",
                "help": "A figure.",
            ])
        #expect(status["metrics"]?.arrayValue?.count == 4)
        bench.runtime.remove(dashed)
        #expect(client("bridge.status")?["metrics"]?.arrayValue?.count == 2)
    }

    private func client(_ task: String) -> JSON? {
        let client = bench.client()
        client.send(#"{"task":"\#(task)","callbackId":1}"#)
        return client.readOne()?["result"]
    }

    @Test("bridge.status reports queues, plugins and refused calls; bridge.sessions reports traffic")
    func status() throws {
        let caller = bench.client()
        for id in 0..<3 { caller.send(#"{"task":"one","callbackId":\#(id)}"#) }
        caller.send(#"{"task":"Nope"}"#)
        caller.session.noteReceived(77)
        bench.runtime.refusedPlugins = [RefusedPlugin(path: "/p.so", reason: "it is broken")]
        let status = try #require(client("bridge.status"))
        #expect(status["waitingCalls"] == 2)
        #expect(status["refusedCalls"] == 1)
        #expect(status["queuedEvents"] == 0)
        #expect(status["monitors"] == 0)
        #expect(
            status["plugins"] == [
                ["name": "worker", "state": "running", "waiting": 2, "restarts": 0],
                ["name": "p", "state": "refused", "path": "/p.so", "error": "it is broken"],
            ])
        let session = client("bridge.sessions")?["sessions"]?[0]
        #expect(session?["calls"] == 3)
        #expect(session?["receivedBytes"] == 77)
        #expect(session?["sentBytes"] == 0)
    }
}

@Suite("Metrics of plugins", .timeLimit(.minutes(20)))
struct PluginMetricsTests {
    private func declaration(_ name: String, _ kind: MetricDeclaration.Kind = .gauge, unit: String? = nil)
        -> MetricDeclaration
    {
        MetricDeclaration(name: name, kind: kind, unit: unit, help: "A figure.")
    }

    @Test("An equal declaration returns the same metric; a conflicting one, or one above the limit, is refused")
    func declaring() throws {
        let metrics = PluginMetrics()
        let number = try metrics.declare(declaration("queue"))
        metrics.set(number, 4)
        #expect(try metrics.declare(declaration("queue")) == number)
        #expect(throws: MetricRefusal.self) { try metrics.declare(declaration("queue", .counter)) }
        #expect(try metrics.declare(declaration("queue", unit: "bytes")) != number)
        for index in 2..<MetricDeclarations.capacity { _ = try metrics.declare(declaration("more_\(index)")) }
        #expect(throws: MetricRefusal.self) { try metrics.declare(declaration("one_more")) }
        #expect(metrics.all.count == MetricDeclarations.capacity)
        #expect(metrics.all.first?.value == 4)
    }

    @Test(
        "A name or unit that monitoring systems do not accept is refused",
        arguments: [
            "", "Queue", "1st", "a-b", "a b", "é", "_a", "total", "calls_total", String(repeating: "a", count: 65),
        ])
    func names(name: String) {
        #expect(throws: MetricRefusal.self) { try PluginMetrics().declare(declaration(name)) }
        #expect(throws: MetricRefusal.self) { try PluginMetrics().declare(declaration("a", unit: name)) }
    }

    @Test("Unknown metric numbers have no effect; several threads can add at the same time")
    func setting() async throws {
        let metrics = PluginMetrics()
        for number in [0, -1, 2, 65, Int.max] { metrics.set(number, 1) }
        let number = try metrics.declare(declaration("n", .counter))
        await withTaskGroup { group in
            for _ in 0..<4 { group.addTask { for _ in 0..<1_000 { metrics.add(number, 1) } } }
        }
        #expect(metrics.all.map(\.value) == [4_000])
    }
}

@Suite("The OpenMetrics parser of these tests")
struct OpenMetricsCheckerTests {
    @Test(
        "accepts text that the specification allows",
        arguments: [
            "# EOF\n", "# TYPE a gauge\na 1\n# EOF\n", "# TYPE a gauge\na{b=\"\\\\\\\"\\n\",c=\"\"} -1.5e-07\n# EOF\n",
            "# TYPE a counter\n# HELP a Text.\na_total 3\n# EOF\n", "# TYPE a gauge\na NaN\n# EOF\n",
            "# TYPE a_b_s gauge\n# UNIT a_b_s s\na_b_s +Inf\n# EOF\n",
            "# TYPE h histogram\nh_bucket{le=\"1.0\"} 1\nh_bucket{le=\"+Inf\"} 2\nh_count 2\nh_sum 3\n# EOF\n",
        ])
    func good(text: String) throws { _ = try OpenMetrics(text) }

    @Test(
        "refuses text that the specification does not allow",
        arguments: [
            "", "# TYPE a gauge\na 1\n", "# TYPE a gauge\na 1\n# EOF", "# TYPE a gauge\n\na 1\n# EOF\n", "a 1\n# EOF\n",
            "# TYPE a gauge\nb 1\n# EOF\n", "# TYPE a counter\na 1\n# EOF\n", "# TYPE a counter\na_total -1\n# EOF\n",
            "# TYPE a_total counter\na_total_total 1\n# EOF\n", "# TYPE a gauge\na 1\na 2\n# EOF\n",
            "# TYPE a gauge\na x\n# EOF\n", "# TYPE a gauge\na inf\n# EOF\n", "# TYPE a gauge\na  1\n# EOF\n",
            "# TYPE a gauge\na{b=\"x} 1\n# EOF\n", "# TYPE a gauge\na{b=\"\\x\"} 1\n# EOF\n",
            "# TYPE a gauge\na{b=\"1\",b=\"2\"} 1\n# EOF\n", "# TYPE a gauge\na{1b=\"1\"} 1\n# EOF\n",
            "# TYPE a gauge\n# UNIT a seconds\na 1\n# EOF\n", "# TYPE a gauge\n# TYPE a gauge\na 1\n# EOF\n",
            "# TYPE a gauge\na 1\n# HELP a x\n# EOF\n", "# HELP a x\na 1\n# EOF\n", "# TYPE a thing\na 1\n# EOF\n",
            "# TYPE a gauge\na 1\n# TYPE b gauge\nb 1\n# TYPE a gauge\n# EOF\n", "# comment\n# EOF\n",
            "# TYPE h histogram\nh_bucket{le=\"1.0\"} 1\nh_count 1\nh_sum 3\n# EOF\n",
            "# TYPE h histogram\nh_bucket{le=\"1.0\"} 3\nh_bucket{le=\"+Inf\"} 2\nh_count 2\nh_sum 3\n# EOF\n",
            "# TYPE h histogram\nh_bucket{le=\"+Inf\"} 2\nh_count 1\nh_sum 3\n# EOF\n",
            "# TYPE a counter\na_total 1\n# TYPE a_total gauge\na_total 1\n# EOF\n",
        ])
    func bad(text: String) { #expect(throws: OpenMetrics.Fault.self) { try OpenMetrics(text) } }
}
