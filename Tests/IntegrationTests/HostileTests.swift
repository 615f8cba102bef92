import BridgeJSON
import Glibc
import Testing

/// The plugins of Tests/HostilePlugins, one at a time, beside a good one in the daemon's own process.
@Suite("A hostile plugin", .blocking(within: .seconds(180)))
struct HostileTests {
    /// What a call of a plugin comes to.
    enum End: Sendable {
        case error(String)
        case result(JSON)
        /// Whatever it is.
        case anything
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var end: End
        var options: JSON = [:]
        var timeoutMilliseconds = 30_000

        var testDescription: String { name }
    }

    private static let folder = Place.package + "/Tests/HostilePlugins"

    private func copy(_ file: String, to folder: TemporaryFolder, as name: String, mode: mode_t) throws {
        let path = folder.file(name)
        let copied = try run("/bin/cp", [file, path])
        guard copied.end == .exited(0), chmod(path, mode) == 0 else { throw Failure("\(file) cannot be copied") }
    }

    /// A daemon with Echo in its own process, and what `add` puts beside it.
    private func withDaemon<R>(
        _ configuration: String = "", _ add: (TemporaryFolder) throws -> Void,
        _ body: (DaemonProcess, Wire) throws -> R
    ) throws -> R {
        let folder = try TemporaryFolder()
        try copy(Place.build + "/libEchoPlugin.so", to: folder, as: "libEchoPlugin.so", mode: 0o644)
        try add(folder)
        let all = "\(configuration)\n[plugins.echo]\nisolation = \"none\""
        return try IntegrationTests.withDaemon(all, pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            let outcome = try body(daemon, client)
            #expect(try client.result("Echo", "still") == "still")
            let end = try daemon.stop()
            #expect(end == .exited(0), "\(daemon.log)")
            return outcome
        }
    }

    private func withWorker<R>(
        _ name: String, _ configuration: String = "", _ body: (DaemonProcess, Wire) throws -> R
    ) throws -> R {
        try withDaemon(
            configuration,
            {
                try copy(Self.folder + "/hostile.py", to: $0, as: "hostile.py", mode: 0o755)
                try copy(Self.folder + "/\(name).plugin.toml", to: $0, as: "\(name).plugin.toml", mode: 0o644)
            }, body)
    }

    private func withLibrary<R>(
        _ name: String, _ configuration: String = "", _ body: (DaemonProcess, Wire) throws -> R
    ) throws -> R {
        try withDaemon(
            configuration,
            { folder in
                let library = "\(folder.path)/lib\(name)Plugin.so"
                let made = try run(
                    "/usr/bin/make", ["-s", "-C", Self.folder + "/libraries", "OUT=\(folder.path)", library])
                guard made.end == .exited(0) else { throw Failure("\(name) cannot be built: \(made.errors)") }
            }, body)
    }

    private func expect(_ test: Case, _ callback: JSON) {
        switch test.end {
        case .error(let code): #expect(callback["error"]?["code"]?.stringValue == code, "\(callback.text.prefix(400))")
        case .result(let result): #expect(callback["result"] == result, "\(callback.text.prefix(400))")
        case .anything: #expect(callback["result"] != nil || callback["error"] != nil)
        }
    }

    /// Calls it, and then its good task, while the neighbour is called too.
    private func meet(_ test: Case, _ client: Wire) throws {
        try client.send(
            #"{"task":"hostile.\#(test.name)","options":\#(test.options.text),"callbackId":"h","timeout":\#(test.timeoutMilliseconds)}"#
        )
        try client.send(#"{"task":"Echo","options":1,"callbackId":"e"}"#)
        let callbacks = [try client.receive(), try client.receive()]
        #expect(callbacks.first { $0["callbackId"] == "e" }?["result"] == 1)
        if let ended = callbacks.first(where: { $0["callbackId"] == "h" }) {
            expect(test, ended)
        } else {
            Issue.record("no callback: \(callbacks)")
        }
        #expect(try client.result("hostile.\(test.name).good", "after") == "after")
    }

    private func refusal(_ client: Wire) throws -> String? {
        let plugins = try client.result("bridge.plugins")["plugins"]?.arrayValue ?? []
        return plugins.first { $0["state"] == "refused" }?["error"]?.stringValue
    }

    // MARK: Workers

    /// A pool with a spare process, for the plugin of that name.
    private static func pool(_ name: String) -> String { "[plugins.\(name)]\npool = { min = 2, max = 2 }" }

    private static let workers = [
        Case(name: "crash-in-call", end: .error("plugin.crashed")),
        Case(name: "exit-in-call", end: .error("plugin.crashed")),
        Case(name: "forks-and-exits", end: .error("plugin.crashed")),
        Case(name: "never-answers", end: .error("call.timeout"), timeoutMilliseconds: 200),
        Case(name: "answers-twice", end: .result("first")),
        Case(name: "answers-unknown", end: .anything),
        Case(name: "long-line", end: .error("plugin.crashed")),
        Case(name: "garbage-bytes", end: .error("plugin.crashed")),
        Case(name: "floods-progress", end: .result("flooded"), options: ["count": 20_000]),
        Case(name: "floods-log", end: .result("flooded"), options: ["count": 20_000]),
        Case(name: "floods-output", end: .result("flooded"), options: ["count": 20_000]),
        Case(name: "floods-calls", end: .anything, options: ["count": 5_000]),
        Case(name: "eats-memory", end: .error("plugin.crashed")),
        Case(name: "leaks-descriptors", end: .anything),
    ]

    @Test("as a worker ends its own calls at the most, and is there again", arguments: workers)
    func worker(_ test: Case) throws {
        try withWorker(test.name) { _, client in try meet(test, client) }
    }

    @Test("as a worker of a pool ends its own calls at the most, and is there again", arguments: workers)
    func pooledWorker(_ test: Case) throws {
        try withWorker(test.name, Self.pool(test.name)) { _, client in try meet(test, client) }
    }

    @Test(
        "as a worker that stops in the midst of its work is found out by a ping",
        arguments: ["busy-loop", "half-line", "stops-reading"], [false, true])
    func hanging(name: String, isPooled: Bool) throws {
        let pool = isPooled ? Self.pool(name) : ""
        try withWorker(name, "worker_timeout = \"4s\"\n\(pool)") { daemon, client in
            // Where it has been answered, the hang comes after that.
            let ended = try client.call("hostile.\(name)")
            #expect(ended["result"] != nil || ended["error"]?["code"] == "plugin.crashed", "\(ended)")
            try daemon.awaitLog(isPooled ? "did not answer " : "did not answer a ping within", client)
            #expect(try client.result("hostile.\(name).good", "after") == "after")
        }
    }

    @Test(
        "as a worker that does not begin well is refused, with a reason",
        arguments: [
            "crash-at-load", "crash-at-start", "wrong-version", "takes-echo", "garbage-hello", "never-hello",
        ], [false, true])
    func badBeginning(name: String, isPooled: Bool) throws {
        let pool = isPooled ? Self.pool(name) : ""
        try withWorker(name, "worker_timeout = \"4s\"\n\(pool)") { _, client in
            let reason = try refusal(client)
            #expect(reason?.isEmpty == false)
        }
    }

    @Test("as a worker that does not end is ended", arguments: ["crash-at-stop", "never-stops", "ignores-cancel"])
    func badEnd(name: String) throws {
        try withWorker(name) { _, client in
            if name == "ignores-cancel" {
                try client.send(#"{"task":"hostile.ignores-cancel","callbackId":"h"}"#)
                try client.send(#"{"cancel":"h"}"#)
                #expect(try client.receive()["error"]?["code"] == "call.cancelled")
            }
        }
    }

    // MARK: Libraries

    private static let libraries = [
        Case(name: "CrashInCall", end: .error("plugin.crashed")),
        Case(name: "ExitInCall", end: .error("plugin.crashed")),
        Case(name: "NeverAnswers", end: .error("call.timeout"), timeoutMilliseconds: 200),
        Case(name: "AnswersTwice", end: .result("first")),
        Case(name: "AnswersUnknown", end: .result("asked")),
        Case(name: "BadJSON", end: .error("plugin.invalid_reply")),
        Case(name: "WritesOutput", end: .result("written")),
    ]

    @Test("as a library ends its own calls at the most, and is there again", arguments: libraries)
    func library(_ test: Case) throws {
        try withLibrary(test.name) { _, client in try meet(test, client) }
    }

    @Test("as a library in a pool ends its own calls at the most, and is there again", arguments: libraries)
    func pooledLibrary(_ test: Case) throws {
        try withLibrary(test.name, Self.pool(test.name)) { _, client in try meet(test, client) }
    }

    /// What crashes takes the daemon along there: it is why others run elsewhere.
    @Test(
        "as a library in the daemon's own process ends its own calls at the most, where it does not crash",
        arguments: libraries.filter { !$0.name.hasSuffix("InCall") })
    func libraryInProcess(_ test: Case) throws {
        try withLibrary(test.name, "[plugins.\(test.name)]\nisolation = \"none\"") { _, client in
            #expect(
                try client.result("bridge.plugins")["plugins"]?.arrayValue?.allSatisfy { $0["isolation"] == "none" }
                    == true)
            try meet(test, client)
        }
    }

    @Test(
        "as a library that keeps its process from everything else is found out by a ping",
        arguments: ["BlocksLoop", "BusyLoop"])
    func hangingLibrary(name: String) throws {
        try withLibrary(name, "worker_timeout = \"4s\"") { _, client in
            let ended = try client.call("hostile.\(name)")
            #expect(ended["error"]?["code"] == "plugin.crashed", "\(ended)")
            #expect(try client.result("hostile.\(name).good", "after") == "after")
        }
    }

    @Test(
        "as a library that does not begin well is refused, with a reason",
        arguments: [
            "CrashInConstructor", "CrashInEntry", "CrashAtStart", "WrongABI", "BadManifest", "TakesEcho",
        ])
    func badLibrary(name: String) throws {
        try withLibrary(name) { _, client in
            let reason = try refusal(client)
            #expect(reason?.isEmpty == false)
        }
    }

    @Test("as a library that never comes back ends with the daemon, even where that is killed")
    func blockedLoop() throws {
        let folder = try TemporaryFolder()
        let library = "\(folder.path)/libBlocksLoopPlugin.so"
        let made = try run("/usr/bin/make", ["-s", "-C", Self.folder + "/libraries", "OUT=\(folder.path)", library])
        #expect(made.end == .exited(0), "\(made.errors)")
        try IntegrationTests.withDaemon(pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            let pid = try client.result("bridge.plugins")["plugins"]?[0]?["pid"]?.int64Value
            let process = try #require(pid.map { Int32($0) })
            try client.send(#"{"task":"hostile.BlocksLoop"}"#)
            _ = try client.result("bridge.ping")
            daemon.signal(SIGKILL)
            #expect(try daemon.wait() == .killed(by: SIGKILL))
            let deadline = Deadline()
            while kill(process, 0) == 0, !contents(of: "/proc/\(process)/stat").contains(") Z "), !deadline.isOver {
                usleep(5_000)
            }
            #expect(!deadline.isOver)
        }
    }

    @Test("as a library that does not end is ended", arguments: ["CrashAtStop", "IgnoresCancel"])
    func badLibraryEnd(name: String) throws {
        try withLibrary(name) { _, _ in }
    }
}
