// TaskHosts: where tasks run. Today inside the daemon, loaded from a shared library; each host speaks to the runtime
// through a plugin's slot and knows nothing of sockets or dialects.
public import BridgeJSON
public import EventLoop
public import Logging
import PluginInterface
public import TaskRuntime

/// Loads plugins and brings them to life: library, manifest, configuration, start, launch workers; and to their end.
@LoopActor
public final class PluginLoader {
    /// What a plugin needs from the daemon's configuration and the way it was started.
    public struct Settings: Sendable {
        /// How the daemon was started, as plugins are told.
        public var launch: LaunchOptions
        /// How long a plugin may take to configure itself, to start, or to run a launch worker.
        public var startTimeout = Duration.seconds(60)
        /// How long a plugin may take to finish.
        public var stopTimeout = Duration.seconds(5)
        /// How long a plugin's process may take to answer `plugin.hello`.
        public var helloTimeout = Duration.seconds(10)
        /// Between pings of a plugin's process, and for the answer to one.
        public var pingInterval = Duration.seconds(10)

        /// Settings; the rest as documented.
        public init(launch: LaunchOptions) { self.launch = launch }
    }

    let runtime: TaskRuntime
    private(set) var settings: Settings
    /// Of all processes that were started for plugins.
    private var supervisors: [WorkerSupervisor] = []
    let log: Logger

    /// A loader that has loaded nothing.
    public init(runtime: TaskRuntime, settings: Settings, log: Logger) {
        self.runtime = runtime
        self.settings = settings
        self.log = log
    }

    // MARK: Beginning

    /// Loads a library and reads its manifest. Nothing of the plugin has run yet but its entry point.
    ///
    /// - Throws: ``BridgeError`` with a sentence that says why it cannot be used.
    public func load(path: String) throws(BridgeError) -> PluginSlot {
        let library: PluginLibrary
        do { library = try PluginLibrary(path: path) } catch {
            throw BridgeError(.pluginUnavailable, error.description)
        }
        return try take(library, path: path)
    }

    /// Takes in a plugin whose table is at hand, as tests have it.
    public func adopt(_ table: UnsafeRawPointer, path: String) throws(BridgeError) -> PluginSlot {
        let library: PluginLibrary
        do { library = try PluginLibrary(table: table) } catch {
            throw BridgeError(.pluginUnavailable, error.description)
        }
        return try take(library, path: path)
    }

    /// Starts a plugin's process and has it say what it is. Nothing of it is configured yet.
    ///
    /// - Parameter reread: reads the command again, where the plugin is to begin anew.
    /// - Throws: ``BridgeError`` with a sentence that says why it cannot be used.
    public func load(
        _ command: WorkerCommand, reread: @escaping () throws(BridgeError) -> WorkerCommand
    ) async throws(BridgeError) -> PluginSlot {
        let hostLog = HostLog(log, plugin: command.name ?? command.path)
        let host = WorkerHost(runtime: runtime, log: hostLog)
        let times = WorkerSupervisor.Times(
            hello: settings.helloTimeout, ping: settings.pingInterval, start: settings.startTimeout,
            drain: settings.stopTimeout)
        let supervisor = WorkerSupervisor(
            command, host: host, runtime: runtime, times: times, log: hostLog, reread: reread)
        host.supervisor = supervisor
        supervisors.append(supervisor)
        let manifest = try await supervisor.start()
        do throws(BridgeError) {
            let manifest = try PluginManifest(manifest)
            let slot = try runtime.add(manifest, path: command.path, host: host)
            host.attach(slot)
            return slot
        } catch {
            supervisor.end()
            throw error
        }
    }

    private func take(_ library: PluginLibrary, path: String) throws(BridgeError) -> PluginSlot {
        let manifest = try PluginManifest(parsing: library.manifest)
        guard manifest.interceptors.isEmpty || library.canIntercept else {
            throw BridgeError(.pluginUnavailable, "its manifest has interceptors, and its table lacks intercept")
        }
        let host = InProcessHost(library, runtime: runtime, log: HostLog(log, plugin: manifest.name))
        let slot = try runtime.add(manifest, path: path, host: host)
        host.attach(slot)
        return slot
    }

    /// Has the plugin check its section of the configuration, and keep it.
    ///
    /// - Throws: ``BridgeError``, code `configuration.invalid` where the section is at fault: data `path`, `expected`,
    ///   `got`.
    public func configure(_ plugin: PluginSlot, section: JSON) async throws(BridgeError) {
        try await perform(.configure, plugin, section)
    }

    /// Has a running plugin check another section of the configuration, and go on as before.
    ///
    /// - Throws: as ``configure(_:section:)``.
    public func check(_ plugin: PluginSlot, section: JSON) async throws(BridgeError) {
        try await perform(.checkConfiguration, plugin, section)
    }

    /// Has a running plugin go by another section of the configuration from now on. Only where its manifest says that
    /// it can.
    ///
    /// - Throws: as ``configure(_:section:)``; the plugin goes on as before then.
    public func reconfigure(_ plugin: PluginSlot, section: JSON) async throws(BridgeError) {
        let answer = try await perform(.reconfigure, plugin, section)
        try runtime.takeInterceptedTasks(answer, of: plugin)
    }

    /// How long a plugin may take to finish, from now on.
    public func setStopTimeout(_ timeout: Duration) { settings.stopTimeout = timeout }

    /// Starts the plugin, registers its launch workers, and opens its tasks to calls.
    public func start(_ plugin: PluginSlot) async throws(BridgeError) {
        let answer = try await perform(.start, plugin, startOptions)
        try runtime.takeInterceptedTasks(answer, of: plugin)
        for (index, worker) in plugin.manifest.workers.enumerated() {
            let body: LaunchWorker.Body = { [weak self] _ in try await self?.launch(index, plugin) }
            do throws(LaunchFailure) {
                try runtime.launch.register(
                    LaunchWorker(
                        worker.name, phase: worker.phase, after: worker.after, required: worker.isRequired, body: body))
            } catch {
                throw BridgeError(.pluginUnavailable, error.description)
            }
        }
        runtime.open(plugin)
    }

    private func launch(_ index: Int, _ plugin: PluginSlot) async throws(BridgeError) {
        do throws(BridgeError) {
            try await perform(.launch(index), plugin, startOptions)
        } catch {
            var error = error
            error.message += " (the plugin \(plugin.path))"
            throw error
        }
    }

    /// The plugin could not be used: it is forgotten, and the reason kept for `bridge.plugins`.
    public func refuse(_ plugin: PluginSlot?, path: String, reason: String) {
        if let plugin { runtime.remove(plugin) }
        runtime.refusedPlugins.append(RefusedPlugin(path: path, reason: reason))
    }

    // MARK: End

    /// Has every plugin finish, all at once; those that take too long are left behind.
    public func stopAll() async {
        let plugins = runtime.plugins
        for plugin in plugins { runtime.close(plugin) }
        for plugin in plugins.reversed() {
            do throws(BridgeError) {
                try await perform(.stop, plugin, .object([:]), timeout: settings.stopTimeout)
            } catch {
                log.warning("the plugin \(plugin.name) did not stop: \(error.message)")
            }
            runtime.remove(plugin)
        }
        for supervisor in supervisors { await supervisor.hasEnded() }
        supervisors = []
    }

    private var startOptions: JSON {
        [
            "stateDirectory": .string(settings.launch.stateDirectory),
            "launch": ["arguments": .array(settings.launch.arguments.map { .string($0) })],
        ]
    }

    @discardableResult
    func perform(
        _ work: PluginWork, _ plugin: PluginSlot, _ options: JSON, timeout: Duration? = nil
    ) async throws(BridgeError) -> JSON {
        let result: Result<JSON, BridgeError> = await withCheckedContinuation { continuation in
            plugin.perform(work, options: options, timeout: timeout ?? settings.startTimeout) {
                continuation.resume(returning: $0)
            }
        }
        return try result.get()
    }
}
