import BridgeJSON
import Glibc
import TestSupport
import Testing

/// Where a plugin runs.
enum Isolation: String, Sendable, CaseIterable, CustomTestStringConvertible {
    case process = "a process of its own"
    case pool = "a pool of processes"
    case daemon = "the daemon's process"

    var testDescription: String { rawValue }
    static let apart: [Isolation] = [.process, .pool]

    /// Returns the configuration of a plugin for this isolation.
    func section(_ plugin: String) -> String {
        switch self {
        case .process: ""
        case .pool: "[plugins.\(plugin)]\npool = { min = 2, max = 2 }"
        case .daemon: "[plugins.\(plugin)]\nisolation = \"none\""
        }
    }
}

/// One of the plugins of Tests/HostilePlugins.
enum HostilePlugin: Sendable {
    case process(String)
    case library(String)

    private static let folder = Paths.package + "/Tests/HostilePlugins"

    var name: String {
        switch self {
        case .process(let name), .library(let name): name
        }
    }

    var file: String {
        switch self {
        case .process(let name): "\(name).plugin.toml"
        case .library(let name): "lib\(name)Plugin.so"
        }
    }

    /// Writes the plugin to a plugin directory.
    func put(into folder: TemporaryFolder) throws {
        switch self {
        case .process:
            try Self.copy("\(Self.folder)/hostile.py", to: folder, as: "hostile.py", mode: 0o755)
            try Self.copy("\(Self.folder)/hostile_worker.py", to: folder, as: "hostile_worker.py", mode: 0o644)
            try Self.copy("\(Self.folder)/\(file)", to: folder, as: file, mode: 0o644)
        case .library:
            let made = try run(
                "/usr/bin/make", ["-s", "-C", "\(Self.folder)/libraries", "OUT=\(folder.path)", folder.file(file)])
            guard made.end == .exited(0) else { throw TestFailure("\(name) cannot be built: \(made.errors)") }
        }
    }

    /// Copies a valid library to a plugin directory.
    static func putGood(_ name: String, into folder: TemporaryFolder) throws {
        try copy(Paths.build + "/lib\(name)Plugin.so", to: folder, as: "lib\(name)Plugin.so", mode: 0o644)
    }

    /// Copies the tests' own library in Swift to a plugin directory.
    static func putFixture(into folder: TemporaryFolder) throws {
        try copy(Paths.build + "/libFixture.so", to: folder, as: "libFixturePlugin.so", mode: 0o644)
    }

    /// Copies the daemon to a plugin directory. Libraries in its directory count as installed with it, and it loads
    /// them directly. A library from another directory must first send its name from another process.
    static func putDaemon(into folder: TemporaryFolder) throws -> String {
        for program in ["trestled", "trestle-plugin-host"] {
            try copy(Paths.program(program), to: folder, as: program, mode: 0o755)
        }
        return folder.file("trestled")
    }

    private static func copy(_ file: String, to folder: TemporaryFolder, as name: String, mode: mode_t) throws {
        let path = folder.file(name)
        let copied = try run("/bin/cp", [file, path])
        guard copied.end == .exited(0), chmod(path, mode) == 0 else { throw TestFailure("\(file) cannot be copied") }
    }

    // MARK: In a daemon

    /// Runs `body` with a daemon that has this plugin, and Echo in the daemon's own process. Afterwards Echo must
    /// answer and the daemon must stop with status 0.
    func withDaemon<R>(
        in isolation: Isolation, _ configuration: String = "", _ body: (DaemonProcess, Wire) throws -> R
    ) throws -> R {
        let folder = try TemporaryFolder()
        try Self.putGood("Echo", into: folder)
        try put(into: folder)
        let all = "\(configuration)\n\(isolation.section(name))\n[plugins.echo]\nisolation = \"none\""
        let home = try DaemonHome(all, pluginDirectory: folder.path)
        if isolation == .daemon { home.program = try Self.putDaemon(into: folder) }
        return try IntegrationTests.withDaemon(in: home) { daemon in
            let client = try daemon.connect()
            let outcome = try body(daemon, client)
            #expect(try client.result("Echo", "still") == "still")
            let end = try daemon.stop()
            #expect(end == .exited(0), "\(daemon.log)")
            return outcome
        }
    }

    /// Returns the daemon's entry for this plugin.
    func status(_ client: Wire) throws -> JSON {
        let plugins = try client.result("bridge.plugins")["plugins"]?.arrayValue ?? []
        guard let own = plugins.first(where: { $0["path"]?.stringValue?.hasSuffix("/\(file)") == true }) else {
            throw TestFailure("the daemon knows nothing of \(file): \(plugins)")
        }
        return own
    }

    /// Expects that the plugin runs in the given isolation and answers.
    func expectRunning(in isolation: Isolation, _ client: Wire) throws {
        let status = try status(client)
        #expect(status["name"] == .string(name) && status["state"] == "running", "\(status)")
        #expect(status["isolation"] == (isolation == .daemon ? "none" : "process"), "\(status)")
        #expect((status["pool"]?.objectValue != nil) == (isolation == .pool), "\(status)")
        #expect(try client.result("hostile.\(name).good", "before") == "before")
    }

    /// Expects that the daemon has refused the plugin, with a reason that contains this text.
    func expectRefused(_ why: String, _ client: Wire) throws {
        let status = try status(client)
        #expect(status["state"] == "refused" && status["error"]?.stringValue?.contains(why) == true, "\(status)")
        #expect(try client.call("hostile.\(name).good")["error"]?["code"] == "task.not_found")
    }
}

/// A call of a hostile task, and its expected outcome.
struct HostileCase: Sendable, CustomTestStringConvertible {
    enum End: Sendable {
        case error(String)
        /// The plugin process ends, and the data of the error contain these members.
        case crashed(JSONObject)
        /// The daemon kills the process, and the reason contains this text.
        case killed(String)
        case result(JSON)
        case satisfying(@Sendable (JSON) -> Bool)
    }

    var plugin: HostilePlugin
    var end: End
    var options: JSON = [:]
    var timeoutMilliseconds = 300_000
    /// The number of answers that the daemon drops.
    var dropped: Int64 = 0

    var name: String { plugin.name }
    var testDescription: String { name }

    /// A configuration without short ping timeouts, which other tests cover: a busy machine may be slow to read a
    /// flood.
    static let withoutHaste = "plugin_timeout = \"1m\""

    /// Calls the hostile task, then the plugin's valid task, and Echo in the meantime.
    func meet(in isolation: Isolation) throws {
        try plugin.withDaemon(in: isolation, Self.withoutHaste) { try meet(in: isolation, $0, $1) }
    }

    /// Does the same in a running daemon.
    func meet(in isolation: Isolation, _ daemon: DaemonProcess, _ client: Wire) throws {
        try plugin.expectRunning(in: isolation, client)
        let timeout = JSON.number(JSONNumber(timeoutMilliseconds))
        try client.send([
            "task": .string("hostile.\(name)"), "options": options, "callbackId": "h", "timeout": timeout,
        ])
        try client.send(#"{"task":"Echo","options":1,"callbackId":"e"}"#)
        #expect(try client.receive { $0["callbackId"] == "e" }["result"] == 1)
        expect(try client.receive { $0["callbackId"] == "h" })
        #expect(try client.result("hostile.\(name).good", "after") == "after")
        if isolation == .process {
            #expect(try plugin.status(client)["restarts"]?.int64Value == (hasEndedItsProcess ? 1 : 0))
        }
        let wanted = dropped
        try client.result("bridge.status") { ($0["droppedReplies"]?.int64Value ?? 0) >= wanted }
        #expect(try client.result("bridge.status")["droppedReplies"]?.int64Value == wanted)
    }

    private var hasEndedItsProcess: Bool {
        switch end {
        case .crashed, .killed: true
        case .error, .result, .satisfying: false
        }
    }

    private func expect(_ callback: JSON) {
        let text = callback.text.prefix(400)
        let error = callback["error"]
        switch end {
        case .error(let code): #expect(error?["code"]?.stringValue == code, "\(text)")
        case .result(let result): #expect(callback["result"] == result, "\(text)")
        case .satisfying(let isRight): #expect(callback["result"].map(isRight) == true, "\(text)")
        case .crashed(let data):
            #expect(error?["code"] == "plugin.crashed", "\(text)")
            for (name, value) in data { #expect(error?["data"]?[name] == value, "\(text)") }
            #expect(error?["data"]?["reason"] == nil, "\(text)")
        case .killed(let why):
            #expect(error?["code"] == "plugin.crashed", "\(text)")
            #expect(error?["data"]?["reason"]?.stringValue?.contains(why) == true, "\(text)")
        }
    }
}

/// Returns the peak resident memory of a process in bytes.
func maximumResidentBytes(of pid: pid_t) -> Int {
    let line = contents(of: "/proc/\(pid)/status").split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    let kilobytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    return (kilobytes ?? .max / 1_024) * 1_024
}

/// Returns the processes that have a file mapped, such as a library.
func processes(mapping file: String) throws -> Set<pid_t> {
    let found = try run("/bin/sh", ["-c", "grep -ls '\(file)$' /proc/[0-9]*/maps"]).output
    return Set(found.split(separator: "\n").compactMap { pid_t($0.split(separator: "/")[1]) })
}

/// Returns the processes that a process has started.
func children(of pid: pid_t) throws -> Set<pid_t> {
    let found = try run("/bin/sh", ["-c", "cat /proc/\(pid)/task/*/children"]).output
    return Set(found.split(whereSeparator: \.isWhitespace).compactMap { pid_t($0) })
}

/// Whether a process runs; false for a zombie.
func isAlive(_ pid: pid_t) -> Bool {
    let state = contents(of: "/proc/\(pid)/stat").split(separator: ")").last?.split(separator: " ").first
    return state != nil && state != "Z"
}

/// Waits until a process that another process has started no longer runs.
func awaitEnd(of pid: pid_t) throws {
    let deadline = Deadline()
    while isAlive(pid) {
        if deadline.isOver { throw TestFailure("the process \(pid) does not end") }
        // The end of a process that is not a child is not reported, so this polls.
        poll(nil, 0, 5)
    }
}
