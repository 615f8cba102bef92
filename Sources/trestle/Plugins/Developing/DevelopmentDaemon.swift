import BridgeClient
import BridgeJSON
import EventLoop
import PrivateDaemon

/// The daemon for a plugin under development. Shows its traffic and the log of the plugin.
@LoopActor
final class DevelopmentDaemon {
    /// The plugin's entry in `bridge.plugins`.
    private(set) var plugin: JSON = [:]
    let client: Bridge
    private let daemon: PrivateDaemon
    private var traffic: Task<Void, Never>?

    private init(_ daemon: PrivateDaemon, _ client: Bridge) {
        self.daemon = daemon
        self.client = client
    }

    /// Starts the daemon with the plugin in the folder. The caller must stop it.
    ///
    /// - Parameters:
    ///   - socketPath: The path of its socket; `nil` for the folder's.
    ///   - show: Shows a line; `nil` shows nothing.
    /// - Throws: ``ProjectFailure`` with the daemon's reason if it cannot use the plugin.
    static func start(
        in folder: PrivateFolder, at socketPath: String? = nil, show: (@LoopActor (String) -> Void)?
    ) async throws -> DevelopmentDaemon {
        let daemon: PrivateDaemon
        do {
            var settings = PrivateDaemon.Settings(daemon: try InstalledDaemon.path())
            settings.socketPath = socketPath
            // Shows lines of the plugin at all levels, but only errors and warnings of the daemon itself.
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
        // Subscribes first, so that no line is missed.
        let events = try await client.subscribe(to: "bridge.traffic")
        _ = try await client.callJSON("bridge.monitor")
        traffic = Task { @LoopActor in
            // Ends with the connection, which also ends the wait for the daemon.
            do {
                for try await event in events where event.name == "bridge.traffic" && Self.isOfInterest(event.data) {
                    show(TrafficText.line(event.data, colour: Screen.output.hasColour))
                }
            } catch {}
        }
    }

    /// Returns whether traffic concerns the plugin: not calls of the daemon's own tasks, and not the daemon's traffic
    /// about plugins and sessions.
    nonisolated static func isOfInterest(_ traffic: JSON) -> Bool {
        if let task = traffic["task"]?.stringValue {
            return !task.hasPrefix("plugin.") && (!task.hasPrefix("bridge.") || traffic["plugin"] != nil)
        }
        let event = traffic["event"]?.stringValue ?? ""
        return !event.hasPrefix("session.") && !event.hasPrefix("plugin.")
    }

    /// Returns the text of a log line that concerns the plugin or is a warning or an error; otherwise `nil`.
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

    /// Restarts the plugin from its current files.
    ///
    /// - Throws: `BridgeError` if the new version cannot be used; the old one then continues.
    func reload() async throws {
        _ = try await client.callJSON("bridge.plugin.reload", ["name": .string(name)])
        try await look()
    }

    /// Returns an example call for the user: the first task, with options that its schema allows; `nil` if there is no
    /// task.
    func exampleCall() async throws -> String? {
        guard let task = plugin["tasks"]?[0]?.stringValue else { return nil }
        let description = try await client.callJSON("bridge.describe", ["task": .string(task)])
        let options = (try? SampleOptions(description["options"] ?? true))?.allowed ?? [:]
        return "call \(task) '\(options.text.replacing("'", with: "'\\''"))'"
    }

    /// Stops the daemon and waits for its end.
    func stop() async {
        traffic?.cancel()
        await client.close()
        await daemon.stop()
    }
}
