import BridgeJSON
import Glibc
import TestSupport
import Testing

/// The plugin processes of Tests/HostilePlugins, one at a time, with a good plugin in the daemon's own process.
@Suite("A hostile plugin process", .blocking)
struct HostilePluginProcessTests {
    private static let cases = [
        HostileCase(plugin: .process("crash-in-call"), end: .crashed(["signal": 11])),
        HostileCase(plugin: .process("exit-in-call"), end: .crashed(["exit": 3])),
        HostileCase(
            plugin: .process("never-answers"), end: .error("call.timeout"), timeoutMilliseconds: 200, dropped: 1),
        HostileCase(plugin: .process("answers-twice"), end: .result("first"), dropped: 2),
        // The last id is invalid: null.
        HostileCase(plugin: .process("answers-unknown"), end: .killed("callbackId"), dropped: 6),
        HostileCase(plugin: .process("garbage-bytes"), end: .killed("invalid message")),
        HostileCase(plugin: .process("floods-progress"), end: .result("flooded"), options: ["count": 20_000]),
        HostileCase(plugin: .process("eats-memory"), end: .crashed(["exit": 1])),
        HostileCase(
            plugin: .process("leaks-descriptors"),
            end: .satisfying { (1..<64).contains($0["opened"]?.int64Value ?? 0) }),
        // Echo answers at once, so the number of calls in flight varies.
        HostileCase(
            plugin: .process("floods-calls"),
            end: .satisfying { ($0["result"]?.int64Value ?? 0) + ($0["busy"]?.int64Value ?? 0) == 5_000 },
            options: ["count": 5_000]),
    ]

    @Test("affects at most its own calls, and serves again", arguments: cases, Isolation.apart)
    func call(_ test: HostileCase, isolation: Isolation) throws { try test.meet(in: isolation) }

    @Test("that makes too many calls gets a refusal for the excess, and one answer per call")
    func floodOfCalls() throws {
        // The plugin answers only after its last call, so all calls are in flight until then.
        try HostileCase(
            plugin: .process("floods-calls"), end: .result(["busy": 3_976, "result": 1_024]),
            options: ["count": 5_000, "task": "hostile.floods-calls.good"]
        ).meet(in: .process)
    }

    @Test(
        "that writes a line of a gigabyte is killed, and the daemon does not grow", arguments: Isolation.apart)
    func longLine(isolation: Isolation) throws {
        let test = HostileCase(plugin: .process("long-line"), end: .killed("longer than"))
        try test.plugin.withDaemon(in: isolation) { daemon, client in
            try test.meet(in: isolation, daemon, client)
            #expect(maximumResidentBytes(of: daemon.pid) < 100 << 20)
        }
    }

    @Test(
        "that floods the log gets a bounded number of lines a second, and the others are counted",
        arguments: ["floods-log", "floods-output"], Isolation.apart)
    func floodOfLines(name: String, isolation: Isolation) throws {
        let test = HostileCase(plugin: .process(name), end: .result("flooded"), options: ["count": 20_000])
        try test.plugin.withDaemon(in: isolation, HostileCase.withoutHaste) { daemon, client in
            try test.meet(in: isolation, daemon, client)
            // The next logged line contains the number of omitted lines.
            var sent = 20_000
            let deadline = Deadline()
            while true {
                let (shown, leftOut) = lines(daemon.log)
                if shown + leftOut == sent {
                    #expect(leftOut > 0)
                    return
                }
                guard !deadline.isOver else { throw TestFailure("\(shown) shown and \(leftOut) left out of \(sent)") }
                if leftOut == 0 || shown + leftOut < sent, try hasSettled(daemon, client) {
                    #expect(try client.result("hostile.\(name)", ["count": 1]) == "flooded")
                    sent += 1
                }
            }
        }
    }

    /// Returns the number of lines of the flood in the log, and the number of omitted lines that the log states.
    private func lines(_ log: String) -> (shown: Int, leftOut: Int) {
        var shown = 0
        var leftOut = 0
        for line in log.split(separator: "\n") {
            if line.contains("line "), line.contains("xxxx") { shown += 1 }
            if let end = line.firstRange(of: " lines of the plugin were left out") {
                leftOut += line[..<end.lowerBound].split(whereSeparator: { !$0.isNumber }).last.flatMap { Int($0) } ?? 0
            }
        }
        return (shown, leftOut)
    }

    /// Whether all earlier output has been logged: the log is the same after several calls.
    private func hasSettled(_ daemon: DaemonProcess, _ client: Wire) throws -> Bool {
        let before = daemon.log.utf8.count
        for _ in 0..<50 { _ = try client.result("bridge.ping") }
        return daemon.log.utf8.count == before
    }

    @Test(
        "that forks and exits has ended, though its child holds the socket", arguments: [false, true], Isolation.apart)
    func forks(leave: Bool, isolation: Isolation) throws {
        let test = HostileCase(
            plugin: .process("forks-and-exits"), end: .crashed(["exit": 0]), options: ["leave": .bool(leave)])
        try test.plugin.withDaemon(in: isolation) { daemon, client in
            try test.meet(in: isolation, daemon, client)
            try daemon.awaitLog("child ", client)
            let said = daemon.log.split(separator: "child ").last?.prefix { $0.isNumber }
            let child = try #require(said.flatMap { pid_t($0) })
            try client.result("bridge.ping") { _ in !isAlive(child) }
        }
    }

    @Test(
        "that hangs during its work is detected by a ping",
        arguments: ["busy-loop", "half-line", "stops-reading"], Isolation.apart)
    func hanging(name: String, isolation: Isolation) throws {
        let plugin = HostilePlugin.process(name)
        try plugin.withDaemon(in: isolation, "plugin_timeout = \"10s\"") { daemon, client in
            try plugin.expectRunning(in: isolation, client)
            let ended = try client.call("hostile.\(name)")
            if name == "stops-reading" {
                // The process hangs after its answer.
                #expect(ended["result"] == "the last thing that it read", "\(ended)")
            } else {
                #expect(ended["error"]?["code"] == "plugin.crashed", "\(ended)")
                #expect(ended["error"]?["data"]?["reason"]?.stringValue?.contains("did not answer") == true, "\(ended)")
            }
            try daemon.awaitLog(isolation == .pool ? "did not answer " : "did not answer a ping within", client)
            let good = try client.call("hostile.\(name).good", "after")
            #expect(good["result"] == "after", "\(good)\n\(daemon.log)")
        }
    }

    @Test(
        "that fails to load or start is refused with the reason",
        arguments: [
            ("crash-at-load", "exit status 3"), ("crash-at-start", "signal 11"), ("wrong-version", "99.0"),
            ("takes-echo", "Echo"), ("reserved-name", "bridge.mine"),
            ("garbage-hello", "$.version"), ("never-hello", "plugin.hello within"),
        ], Isolation.apart)
    func badBeginning(test: (name: String, why: String), isolation: Isolation) throws {
        let plugin = HostilePlugin.process(test.name)
        let haste = test.name == "never-hello" ? "plugin_timeout = \"1s\"" : HostileCase.withoutHaste
        try plugin.withDaemon(in: isolation, haste) { _, client in
            try plugin.expectRefused(test.why, client)
        }
    }

    @Test("that sends the name of another plugin keeps its own name", arguments: Isolation.apart)
    func otherName(isolation: Isolation) throws {
        let plugin = HostilePlugin.process("other-name")
        try plugin.withDaemon(in: isolation) { _, client in
            try plugin.expectRunning(in: isolation, client)
            let plugins = try client.result("bridge.plugins")["plugins"]?.arrayValue ?? []
            #expect(plugins.allSatisfy { $0["name"] != "Persistence" }, "\(plugins)")
        }
    }

    @Test(
        "that does not stop properly has ended, and the log states the reason",
        arguments: [
            ("crash-at-stop", "signal 11"), ("never-stops", "did not stop"), ("ignores-cancel", "did not stop"),
        ],
        Isolation.apart)
    func badEnd(test: (name: String, why: String), isolation: Isolation) throws {
        let plugin = HostilePlugin.process(test.name)
        let configuration = "stop_timeout = \"1s\"\ndrain_timeout = \"1s\""
        let daemon = try plugin.withDaemon(in: isolation, configuration) { daemon, client in
            try plugin.expectRunning(in: isolation, client)
            if test.name == "ignores-cancel" {
                try client.send(#"{"task":"hostile.ignores-cancel","callbackId":"h"}"#)
                try client.send(#"{"cancel":"h"}"#)
                #expect(try client.receive()["error"]?["code"] == "call.cancelled")
            }
            return daemon
        }
        #expect(
            daemon.log.contains("the plugin \(test.name) did not stop") && daemon.log.contains(test.why),
            "\(daemon.log)")
    }
}
