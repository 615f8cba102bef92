import BridgeClient
import BridgeJSON
import EventLoop
import PrivateDaemon

/// The daemon in which a plugin runs that is being written: what passes and what the plugin logs is shown.
@LoopActor
final class DevelopmentDaemon {
    /// What the plugin says of itself in `bridge.plugins`.
    private(set) var plugin: JSON = [:]
    let client: Bridge
    private let daemon: PrivateDaemon
    private var traffic: Task<Void, Never>?

    private init(_ daemon: PrivateDaemon, _ client: Bridge) {
        self.daemon = daemon
        self.client = client
    }

    /// Starts it, with the plugin that the folder offers. The caller that starts it also stops it.
    ///
    /// - Parameters:
    ///   - socketPath: where it listens; nil: in the folder.
    ///   - show: shows a line; nil: nothing is shown.
    /// - Throws: ``ProjectFailure`` where the daemon cannot use the plugin, with its reason.
    static func start(
        in folder: PrivateFolder, at socketPath: String? = nil, show: (@LoopActor (String) -> Void)?
    ) async throws -> DevelopmentDaemon {
        let daemon: PrivateDaemon
        do {
            var settings = PrivateDaemon.Settings(daemon: try InstalledDaemon.path())
            settings.socketPath = socketPath
            // The plugin's lines of any level are shown; of the daemon's own only what is wrong.
            settings.logLevel = "debug"
            settings.environment = CrashReports.environment()
            daemon = try await PrivateDaemon.start(settings, in: folder) { line in
                if let text = logText(line) { show?(text) }
            }
        } catch let error as PrivateDaemonError {
            throw ProjectFailure("\(error)")
        }
        do {
            let client = try await Bridge.connectOnce(to: socketPath ?? folder.socketPath)
            let run = DevelopmentDaemon(daemon, client)
            try await run.look()
            if let show { try await run.watch(show) }
            return run
        } catch {
            await daemon.stop()
            throw error
        }
    }

    private func look() async throws {
        plugin = try await client.callJSON("bridge.plugins")["plugins"]?.arrayValue?.first ?? [:]
        guard plugin["state"]?.stringValue == "running" else {
            throw ProjectFailure(plugin["error"]?.stringValue ?? "the daemon found no plugin in it")
        }
    }

    private func watch(_ show: @escaping @LoopActor (String) -> Void) async throws {
        // First, so that no line is missed.
        let events = try await client.subscribe(to: "bridge.traffic")
        _ = try await client.callJSON("bridge.monitor")
        traffic = Task { @LoopActor in
            // Ends with the connection, whose end ends the wait for the daemon.
            do {
                for try await event in events where event.name == "bridge.traffic" && Self.isOfInterest(event.data) {
                    show(TrafficText.line(event.data, colour: Screen.output.hasColour))
                }
            } catch {}
        }
    }

    /// Whether traffic is about the plugin: not what clients ask the daemon, nor what the daemon does with plugins and
    /// sessions.
    nonisolated static func isOfInterest(_ traffic: JSON) -> Bool {
        if let task = traffic["task"]?.stringValue {
            return !task.hasPrefix("plugin.") && (!task.hasPrefix("bridge.") || traffic["plugin"] != nil)
        }
        let event = traffic["event"]?.stringValue ?? ""
        return !event.hasPrefix("session.") && !event.hasPrefix("plugin.")
    }

    /// A line of the log, where it is about the plugin or something is wrong.
    nonisolated static func logText(_ line: DaemonLogLine) -> String? {
        if let pid = line.fields["pid"]?.int64Value, line.plugin != nil {
            return "Process \(pid); a debugger: \(DebuggerHint.command(for: pid))"
        }
        let isBad = line.level == "error" || line.level == "warning"
        guard line.plugin != nil || isBad else { return nil }
        return "\(line.level): \(PlainText.line(line.message))"
    }

    var isRunning: Bool { daemon.isRunning }
    /// The plugin's name.
    var name: String { plugin["name"]?.stringValue ?? "" }

    /// Has the plugin start again with what its files say now.
    ///
    /// - Throws: `BridgeError` where the new one is no good; the old one goes on then.
    func reload() async throws {
        _ = try await client.callJSON("bridge.plugin.reload", ["name": .string(name)])
        try await look()
    }

    /// A call that the user may try: the first task, with options that its schema allows.
    func exampleCall() async throws -> String? {
        guard let task = plugin["tasks"]?[0]?.stringValue else { return nil }
        let description = try await client.callJSON("bridge.describe", ["task": .string(task)])
        let options = (try? SampleOptions(description["options"] ?? true))?.allowed ?? [:]
        return "call \(task) '\(options.text.replacing("'", with: "'\\''"))'"
    }

    /// Ends it, and waits for that.
    func stop() async {
        traffic?.cancel()
        await client.close()
        await daemon.stop()
    }
}
