import BridgeJSON
import Glibc
import TestSupport
import Testing

/// Messages of a plugin's threads arrive in their order, and before the answer that follows them.
@Suite("Messages from a thread of a plugin", .blocking)
struct SendingOrderTests {
    /// A plugin whose task sends ten progress values and an event from a thread, then answers.
    enum Sender: String, CaseIterable, CustomTestStringConvertible {
        case blocking = "fixture.blocking"
        case lane = "fixture.lane"
        case task = "fixture.task"
        /// Answers on the loop thread when the thread is done.
        case c = "specimen"
        /// Answers in a function that the thread posts to the loop thread.
        case cPost = "poster"
        /// Answers from the thread.
        case cReply = "replier"
        case python = "python"

        var testDescription: String { rawValue }

        /// Writes the plugin to a plugin directory.
        func put(into folder: TemporaryFolder) throws {
            switch self {
            case .blocking, .lane, .task: try HostilePlugin.putFixture(into: folder)
            case .c: try inC(work: "send(argument);", done: "finish(argument);").build(in: folder)
            case .cPost: try inC(work: "send(argument); host->post(host, finish, argument);").build(in: folder)
            case .cReply: try inC(work: "send(argument); finish(argument);").build(in: folder)
            case .python: try Self.writePluginProcess(to: folder)
            }
        }

        /// - Parameters:
        ///   - work: the C code on a thread that may block, with `argument`.
        ///   - done: the C code on the loop thread afterwards.
        private func inC(work: String, done: String = "") -> PluginInC {
            PluginInC(
                name: rawValue, task: rawValue,
                call: """
                    struct job *job = malloc(sizeof *job);
                    *job = (struct job){.call = request->call};
                    job->size = request->options.size < sizeof job->options ? request->options.size : 0;
                    memcpy(job->options, request->options.data, job->size);
                    host->blocking(host, work, done, job);
                    """,
                definitions: """
                    #include <stdio.h>
                    #include <stdlib.h>
                    struct job { trestle_call call; char options[64]; size_t size; };
                    static void send(struct job *job) {
                        for (int value = 0; value < 10; value++) {
                            char digits[16];
                            snprintf(digits, sizeof digits, "%d", value);
                            host->report_progress(host, job->call, text(digits));
                        }
                        host->publish(host, &(trestle_event){.size = sizeof(trestle_event), .abi = TRESTLE_ABI,
                            .name = text("fixture.sent"), .data = {job->options, job->size}});
                    }
                    static void finish(void *argument) {
                        struct job *job = argument;
                        host->reply(host, job->call, (trestle_bytes){job->options, job->size});
                        free(job);
                    }
                    static void work(void *argument) { \(work) }
                    static void done(void *argument) { \(done) }
                    """)
        }

        private static func writePluginProcess(to folder: TemporaryFolder) throws {
            try folder.write(
                """
                import sys, threading
                sys.path.insert(0, "\(Paths.package)/Clients/Python")
                from trestle_bridge import Plugin

                plugin = Plugin()

                @plugin.task("python", summary="Sends from a thread.")
                def send(options, call):
                    def work():
                        for value in range(10):
                            call.report_progress(value)
                        plugin.publish("fixture.sent", options)
                    thread = threading.Thread(target=work)
                    thread.start()
                    thread.join()
                    return options

                plugin.run()
                """, to: "python.py")
            try folder.write("command = [\"python3\", \"python.py\"]", to: "python.plugin.toml")
        }

        /// The name of the plugin that provides the task.
        var plugin: String {
            switch self {
            case .blocking, .lane, .task: "fixture"
            case .c, .cPost, .cReply, .python: rawValue
            }
        }

        var isolations: [Isolation] { self == .python ? [.process] : [.daemon, .process] }
    }

    private static let cases = Sender.allCases.flatMap { sender in sender.isolations.map { (sender, $0) } }

    @Test("arrive in their order and before the answer, in each of 1,000 calls", arguments: cases)
    func order(sender: Sender, isolation: Isolation) throws {
        let folder = try TemporaryFolder()
        try sender.put(into: folder)
        try withDaemon(isolation.section(sender.plugin), pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            _ = try client.result("bridge.subscribe", ["events": ["fixture.sent"]])
            // Sends single calls, then several at once.
            for (first, count) in [(0, 1)].cycled(400) + [(400, 20)].cycled(30) {
                let numbers = (0..<count).map { first + $0 }
                for number in numbers { try client.send(Self.call(sender, number)) }
                try Self.expectOrder(of: numbers, client)
            }
        }
    }

    @Test(
        "to the log and to metrics are there before the answer, in each of up to 1,000 calls",
        arguments: ["none", "process"])
    func linesAndFigures(isolation: String) throws {
        let folder = try TemporaryFolder()
        try PluginInC(
            name: "specimen", task: "specimen",
            start: """
                counter = host->metric(host, &(trestle_metric){.size = sizeof(trestle_metric), .abi = TRESTLE_ABI,
                    .name = text("calls"), .help = text("Calls."), .kind = TRESTLE_METRIC_COUNTER});
                host->reply(host, request->call, text("{}"));
                """,
            call: "host->blocking(host, work, done, (void *)(uintptr_t)request->call);",
            definitions: """
                #include <stdint.h>
                static uint32_t counter;
                static void work(void *argument) {
                    trestle_call call = (trestle_call)(uintptr_t)argument;
                    host->metric_add(host, counter, 1);
                    host->log(host, TRESTLE_LOG_INFO, text("first line"), call);
                    host->log(host, TRESTLE_LOG_INFO, text("second line"), 0);
                    host->reply(host, call, text("1"));
                }
                static void done(void *argument) {}
                """
        ).build(in: folder)
        // The log lines of a process are limited per second, and its metrics are sent once a second.
        let isInDaemon = isolation == "none"
        let count = isInDaemon ? 1_000 : 40
        try withDaemon("[plugins.specimen]\nisolation = \"\(isolation)\"", pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            let log = open(daemon.home.logPath, O_RDONLY)
            defer { close(log) }
            for number in 1...count {
                _ = try client.result("specimen")
                let lines = Self.news(log).split(separator: "\n").compactMap { line in
                    ["first", "second"].first { line.contains("\($0) line") }
                }
                try #require(lines == ["first", "second"], "call \(number)")
                if isInDaemon { try #require(try calls(client) == Int64(number)) }
            }
            try client.result("bridge.status") { _ in (try? calls(client)) == Int64(count) }
        }
    }

    /// Returns the value of the plugin's counter.
    private func calls(_ client: Wire) throws -> Int64? {
        let metrics = try client.result("bridge.status")["metrics"]?.arrayValue
        return metrics?.first { $0["plugin"] == "specimen" }?["value"]?.int64Value
    }

    /// Returns the part of a file that was not read before.
    private static func news(_ file: Int32) -> String {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4_096)
        while case let count = read(file, &part, part.count), count > 0 { bytes += part[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func call(_ sender: Sender, _ number: Int) -> JSON {
        [
            "task": .string(sender.rawValue), "options": ["number": .number(JSONNumber(number))],
            "callbackId": .number(JSONNumber(number)), "progress": true,
        ]
    }

    /// Reads until all calls have ended, and checks the messages of each.
    private static func expectOrder(of numbers: [Int], _ client: Wire) throws {
        var came: [Int: [String]] = [:]
        var open = Set(numbers)
        while !open.isEmpty {
            let message = try client.receive()
            let number = message["callbackId"]?.int64Value ?? message["data"]?["number"]?.int64Value ?? -1
            came[Int(number), default: []].append(text(of: message))
            if message["callbackId"] != nil, message["progress"] == nil { open.remove(Int(number)) }
        }
        for number in numbers {
            let whole = (0..<10).map { "progress \($0)" } + ["event", "result \(number)"]
            #expect(came[number] == whole, "call \(number)")
        }
    }

    private static func text(of message: JSON) -> String {
        if let value = message["progress"] { return "progress \(value.text)" }
        if message["event"] != nil { return "event" }
        return "result \(message["result"]?["number"]?.text ?? message.text)"
    }
}

extension [(Int, Int)] {
    /// Repeats the one element of this array; each range begins where the previous one ended.
    fileprivate func cycled(_ times: Int) -> [(Int, Int)] {
        (0..<times).flatMap { time in map { ($0.0 + time * $0.1, $0.1) } }
    }
}
