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

    /// What the configuration says of a plugin for that.
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

    /// Puts it into a plugin directory.
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

    /// Puts a good library into a plugin directory.
    static func putGood(_ name: String, into folder: TemporaryFolder) throws {
        try copy(Paths.build + "/lib\(name)Plugin.so", to: folder, as: "lib\(name)Plugin.so", mode: 0o644)
    }

    /// Puts the tests' own library in Swift into a plugin directory.
    static func putFixture(into folder: TemporaryFolder) throws {
        try copy(Paths.build + "/libFixture.so", to: folder, as: "libFixturePlugin.so", mode: 0o644)
    }

    /// Puts the daemon into a plugin directory: what is in there has come with it, and is loaded by it directly. A
    /// library from elsewhere would first be asked for its name in another process.
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

    /// Runs `body` with a daemon that has it, and Echo in the daemon's own process: that is to answer at the end, and
    /// the daemon to stop in order.
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

    /// What the daemon says of it.
    func status(_ client: Wire) throws -> JSON {
        let plugins = try client.result("bridge.plugins")["plugins"]?.arrayValue ?? []
        guard let own = plugins.first(where: { $0["path"]?.stringValue?.hasSuffix("/\(file)") == true }) else {
            throw TestFailure("the daemon knows nothing of \(file): \(plugins)")
        }
        return own
    }

    /// That it runs where it is to run, and answers.
    func expectRunning(in isolation: Isolation, _ client: Wire) throws {
        let status = try status(client)
        #expect(status["name"] == .string(name) && status["state"] == "running", "\(status)")
        #expect(status["isolation"] == (isolation == .daemon ? "none" : "process"), "\(status)")
        #expect((status["pool"]?.objectValue != nil) == (isolation == .pool), "\(status)")
        #expect(try client.result("hostile.\(name).good", "before") == "before")
    }

    /// That the daemon has refused it and says this of the reason.
    func expectRefused(_ why: String, _ client: Wire) throws {
        let status = try status(client)
        #expect(status["state"] == "refused" && status["error"]?.stringValue?.contains(why) == true, "\(status)")
        #expect(try client.call("hostile.\(name).good")["error"]?["code"] == "task.not_found")
    }
}

/// A call of a bad task, and what is to come of it.
struct HostileCase: Sendable, CustomTestStringConvertible {
    enum End: Sendable {
        case error(String)
        /// The plugin's process ends, and the error's data say that of it.
        case crashed(JSONObject)
        /// The daemon ends its process, and the reason has that word.
        case killed(String)
        case result(JSON)
        case satisfying(@Sendable (JSON) -> Bool)
    }

    var plugin: HostilePlugin
    var end: End
    var options: JSON = [:]
    var timeoutMilliseconds = 300_000
    /// How many answers come that nobody waits for.
    var dropped: Int64 = 0

    var name: String { plugin.name }
    var testDescription: String { name }

    /// Pings are another test's affair: a busy machine may be slow to take what floods it.
    static let withoutHaste = "plugin_timeout = \"1m\""

    /// Calls it, and then its good task, while the neighbour is called too.
    func meet(in isolation: Isolation) throws {
        try plugin.withDaemon(in: isolation, Self.withoutHaste) { try meet(in: isolation, $0, $1) }
    }

    /// The same in a daemon that is there.
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

/// The most memory that a process has had so far, in bytes.
func maximumResidentBytes(of pid: pid_t) -> Int {
    let line = contents(of: "/proc/\(pid)/status").split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    let kilobytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    return (kilobytes ?? .max / 1_024) * 1_024
}

/// The processes that have a file mapped, such as a library.
func processes(mapping file: String) throws -> Set<pid_t> {
    let found = try run("/bin/sh", ["-c", "grep -ls '\(file)$' /proc/[0-9]*/maps"]).output
    return Set(found.split(separator: "\n").compactMap { pid_t($0.split(separator: "/")[1]) })
}

/// The processes that another one has started.
func children(of pid: pid_t) throws -> Set<pid_t> {
    let found = try run("/bin/sh", ["-c", "cat /proc/\(pid)/task/*/children"]).output
    return Set(found.split(whereSeparator: \.isWhitespace).compactMap { pid_t($0) })
}

/// Whether a process runs; one that has ended and was not waited for does not.
func isAlive(_ pid: pid_t) -> Bool {
    let state = contents(of: "/proc/\(pid)/stat").split(separator: ")").last?.split(separator: " ").first
    return state != nil && state != "Z"
}

/// Waits until a process that another has started does not run any more.
func awaitEnd(of pid: pid_t) throws {
    let deadline = Deadline()
    while isAlive(pid) {
        if deadline.isOver { throw TestFailure("the process \(pid) does not end") }
        // Nobody reports the end of a process that is no child.
        poll(nil, 0, 5)
    }
}
