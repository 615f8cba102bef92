import BridgeJSON
import TestSupport
import Testing

@Suite("trestle plugin check of a plugin with one fault", .blocking)
struct PluginCheckLapseTests {
    /// The faults of a plugin in Python, by the number of the call: two calls are answered, one is cancelled, one has a
    /// timeout of a millisecond, and one is in flight when the daemon receives the termination signal.
    private static let lapses: [(call: String, failures: [String])] = [
        ("if n != 3: answer(id)", ["specimen cancel"]),
        ("if n != 4: answer(id)", ["specimen deadline"]),
        ("if n != 5: answer(id)", ["specimen stop"]),
        // The second answers do not count as the answers that are still open.
        ("if n != 3: answer(id); threading.Timer(0.05, answer, [id]).start()", ["specimen cancel", "specimen once"]),
        ("answer(id)\nthreading.Timer(0.05, answer, [id]).start()", ["specimen once"]),
        ("if n == 1: say({'task': 'specimen.good', 'callbackId': 99})\nanswer(id)", ["leak"]),
    ]

    @Test("finds a fault in the handling of one call, even if the first call was answered correctly", arguments: lapses)
    func lapse(_ lapse: (call: String, failures: [String])) throws {
        let folder = try TemporaryFolder()
        var process = PluginInPython()
        process.start = """
            import threading
            n = 0
            def answer(id): say({"callbackId": id, "result": "done"})
            """
        process.call = "global n\nn += 1\n" + lapse.call
        // The plugin's own call is never answered.
        process.other = "if task == 'specimen.good': continue"
        try process.write(to: folder)
        let (names, run) = try checkFailures(folder.file("specimen.plugin.toml"), "--call", "specimen")
        #expect(names == lapse.failures, "\(run.output)")
    }

    @Test("reports duplicate answers once, even if some arrive during the check of another task")
    func late() throws {
        let folder = try TemporaryFolder()
        var process = PluginInPython()
        process.start = """
            answered = []
            def answer(id): say({"callbackId": id, "result": "done"})
            """
        process.call = "answer(id)\nanswer(id)\nanswered.append(id)"
        process.other = "if task == 'specimen.good':\n    while answered: answer(answered.pop())"
        try process.write(to: folder)
        let (names, run) = try checkFailures(
            folder.file("specimen.plugin.toml"), "--call", "specimen", "--call", "specimen.good")
        #expect(names == ["specimen once"], "\(run.output)")
    }

    @Test("finds a plugin that does not start again with the files of its first run")
    func restart() throws {
        let folder = try TemporaryFolder()
        var process = PluginInPython()
        process.start = """
            mark = "\(folder.file("mark"))"
            if os.path.exists(mark): os._exit(3)
            open(mark, "w").close()
            """
        try process.write(to: folder)
        let (names, run) = try checkFailures(folder.file("specimen.plugin.toml"), "--call", "specimen")
        #expect(names == ["restart"], "\(run.output)")
    }

    @Test("finds more output than the log accepts")
    func flood() throws {
        let call = #"hostile.floods-output={"count": 1000}"#
        let (names, run) = try checkFailures(
            "\(Paths.package)/Tests/HostilePlugins/floods-output.plugin.toml", "--call", call, "--timeout", "10s")
        #expect(names == ["output"] && run.output.contains("100 lines per second"), "\(run.output)")
    }

    @Test(
        "finds what ends the daemon if the plugin runs in its process",
        arguments: [
            ("_exit(7);", ["crash"]),
            // The fault occurs while the daemon drains and waits for the answer.
            ("return ask(NULL);", ["specimen stop", "stop"]),
        ])
    func endsDaemon(_ fault: String, _ expected: [String]) throws {
        let folder = try TemporaryFolder()
        let library = try PluginInC(
            call: """
                static int n = 0;
                if (++n == \(expected.count == 1 ? 1 : 5) && getenv("TRESTLE_PLUGIN_FD") == NULL) \(fault)
                host->reply(host, request->call, text("true"));
                """,
            // The daemon may stop waiting before it answers the next question. No other call is ever cancelled.
            cancel: "_exit(7);",
            definitions: """
                #include <stdlib.h>
                #include <unistd.h>
                static void ask(void *argument);
                static void answered(void *context, trestle_bytes result, const trestle_error *error) {
                    const char wanted[] = "\\"draining\\":true";
                    for (size_t at = 0; at + sizeof wanted <= result.size; at++)
                        if (memcmp(result.data + at, wanted, sizeof wanted - 1) == 0) _exit(7);
                    host->post(host, ask, NULL);
                }
                // Asks for the daemon's status until the daemon drains.
                static void ask(void *argument) {
                    host->call(host, &(trestle_outgoing_call){.size = sizeof(trestle_outgoing_call), .abi = TRESTLE_ABI,
                        .task = text("bridge.status"), .done = answered});
                }
                """
        )
        .build(in: folder)
        // The long timeout ensures that the daemon ends first, even on a slow machine.
        let (names, run) = try checkFailures(library, "--call-all", "--timeout", "10m")
        // The endless questions may also block the thread; how long depends on the machine.
        #expect(names.filter { $0 != "blocking" } == expected, "\(run.output)")
        let failed = run.output.split(separator: "\n").filter { $0.contains(#""outcome":"failed""#) }
        #expect(failed.allSatisfy { $0.contains(#""isolation":"none""#) }, "\(run.output)")
    }

    @Test("continues after a call that closes the session of its caller, and reports the skipped checks")
    func closesItsCaller() throws {
        let (names, run) = try checkFailures(Paths.program("libCloseWebPlugin.so"), "--call", "closeWeb={}")
        #expect(names == [], "\(run.output)")
        let findings = try run.output.split(separator: "\n").map { try JSON(parsing: String($0)) }
        for isolation in ["process", "none"] {
            let here = findings.filter { $0["isolation"]?.stringValue == isolation }
            let messages = here.filter { $0["task"] == "closeWeb" }.compactMap { $0["message"]?.stringValue }
            #expect(messages.contains { $0.contains("are not made") }, "\(messages)")
            for check in ["leak", "stop", "restart"] {
                #expect(
                    here.contains { $0["check"]?.stringValue == check && $0["outcome"] == "passed" }, "\(run.output)")
            }
        }
    }

    @Test("reports where a plugin ran, also if the configuration decides this")
    func isolation() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("[plugins.echo]\nisolation = \"none\"\n", to: "here.toml")
        let (names, run) = try checkFailures(Paths.program("libEchoPlugin.so"), "--config", file, "--call-all")
        #expect(names == [] && run.output.contains(#""isolation":"none""#), "\(run.output)")
        #expect(!run.output.contains(#""isolation":"process""#), "\(run.output)")
    }
}
