import BridgeJSON
import BridgeMessage
import EventLoop
import LaunchWorkers
import Logging
import PrivateDaemon
import Synchronization
import TaskHosts
import TaskRuntime

/// The parts of a test bridge. Loop thread.
@LoopActor
final class TestCore {
    nonisolated let logLines = LogLines()

    let runtime: TaskRuntime
    let decoder = MessageDecoder()
    private let clock = ManualRuntimeClock()
    private let loader: PluginLoader
    private let daemonUID: UInt32
    private var turnEnd: TurnEndHook?

    init(daemonUID: UInt32, stateDirectory: String) {
        self.daemonUID = daemonUID
        let options = LaunchOptions(arguments: ["trestled"], stateDirectory: stateDirectory)
        let lines = logLines
        let log = Logger(label: "test") { _ in CollectingLog(lines: lines) }
        runtime = TaskRuntime(
            limits: RuntimeLimits(), policy: Policy(daemonUID: daemonUID),
            daemon: DaemonDescription(version: "test", pid: 0), clock: clock, log: log)
        loader = PluginLoader(runtime: runtime, settings: PluginLoader.Settings(launch: options), log: log)
        clock.runtime = runtime
        turnEnd = EventLoop.atTurnEnd { [runtime] in runtime.writeOutput() }
    }

    func add(_ table: PluginTableAddress, _ configuration: [String: JSON]) async throws {
        let instance = try loader.adopt(table.address, path: "test")
        try await loader.configure(instance, section: configuration[instance.name] ?? [:])
        try await loader.start(instance)
    }

    func add(isolated built: BuiltPlugin, _ configuration: [String: JSON]) async throws {
        let host = built.programs.pluginHost ?? ""
        let folder = built.library.split(separator: "/").dropLast().reduce(into: "") { $0 += "/\($1)" }
        let command = PluginProcessCommand(
            path: built.library, name: nil, arguments: [host, built.library], directory: folder,
            limits: PluginProcessCommand.Limits(descriptors: nil))
        let instance = try await loader.load(command)
        try await loader.configure(instance, section: configuration[instance.name] ?? [:])
        try await loader.start(instance)
    }

    func launch() async throws { try await runtime.launch.run() }

    func open(uid: UInt32?, origin: String?) -> TestSession {
        let uid = uid ?? daemonUID
        let client = TestClient(core: self)
        client.open(PeerIdentity(uid: uid, gid: uid, pid: 1))
        if let origin { client.send(["task": "bridge.hello", "options": ["origin": .string(origin)]]) }
        return TestSession(client: client)
    }

    func advance(_ duration: Duration) { clock.advance(duration) }

    func stop() async {
        await loader.stopAll()
        turnEnd?.remove()
    }
}

/// The collected log lines. Any thread.
final class LogLines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }
    func append(_ line: String) { lines.withLock { $0.append(line) } }
}

private struct CollectingLog: LogHandler {
    let lines: LogLines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.append("\(event.level): \(event.message)") }
}
