// TaskHosts: where plugins run: libraries in the daemon's process (InProcess), libraries and programs in processes of
// their own (Processes). Each host reaches the runtime through a plugin's instance, and knows no clients and no
// dialects.
public import BridgeJSON
public import EventLoop
import LaunchWorkers
public import Logging
import PluginInterface
public import TaskRuntime

/// Loads plugins and brings them to life: library, manifest, configuration, start, launch workers; and to their end.
@LoopActor
public final class PluginLoader {
    /// What a plugin needs from the daemon's configuration and the way it was started.
    public struct Settings: Sendable {
        /// How the daemon was started, as plugins see it.
        public var launch: LaunchOptions
        /// How long a plugin may take to configure itself, to start, or to run a launch worker.
        public var startTimeout = Duration.seconds(60)
        /// How long a plugin may take to finish.
        public var stopTimeout = Duration.seconds(5)
        /// How long a plugin's process may take to answer `plugin.hello`.
        public var helloTimeout = Duration.seconds(10)
        /// What shares the loop between users; each process of a plugin is one. Nil: processes are read whenever they
        /// send.
        public var scheduler: FairScheduler?
        /// Between pings of a plugin's process, and for the answer to one.
        public var pingInterval = Duration.seconds(10)

        /// Settings; the rest as documented.
        public init(launch: LaunchOptions) { self.launch = launch }
    }

    let runtime: TaskRuntime
    private(set) var settings: Settings
    /// Of all processes that were started for plugins.
    private var supervisors: [PluginProcessSupervisor] = []
    /// Those that finish what they have.
    var leaving: [ObjectIdentifier: Task<Void, Never>] = [:]
    /// How often the library of a path was loaded.
    private var loads: [String: Int] = [:]
    /// A copy of a library costs some 50 KiB and a descriptor, for good.
    private static let maximumCopies = 100
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
    /// - Parameter old: the plugin whose place it is to take; what has been loaded of that one stays in the process.
    /// - Throws: ``BridgeError`` with a sentence that says why it cannot be used.
    public func load(path: String, inPlaceOf old: PluginInstance? = nil) throws(BridgeError) -> PluginInstance {
        let count = loads[path, default: 0]
        guard count <= Self.maximumCopies else {
            throw BridgeError(
                .pluginUnavailable,
                """
                it was loaded \(count) times, and code is never unloaded: isolation = "process" in its section lets it \
                be loaded as often as one likes, after a restart of the daemon
                """)
        }
        do {
            let copy = count > 0 ? try MemoryFile.copy(of: path, named: "trestle-plugin").keep() : nil
            loads[path] = count + 1
            return try take(try PluginLibrary(path: path, copy: copy), path: path, inPlaceOf: old)
        } catch let error as BridgeError {
            throw error
        } catch {
            throw BridgeError(.pluginUnavailable, "\(error)")
        }
    }

    /// Takes in a plugin whose table is at hand, as tests have it.
    public func adopt(_ table: UnsafeRawPointer, path: String) throws(BridgeError) -> PluginInstance {
        let library: PluginLibrary
        do { library = try PluginLibrary(table: table) } catch {
            throw BridgeError(.pluginUnavailable, error.description)
        }
        return try take(library, path: path, inPlaceOf: nil)
    }

    /// Starts a plugin's process and has it say what it is. Nothing of it is configured yet.
    ///
    /// - Parameters:
    ///   - pool: what is said of its processes, by its name, once that is known; nil: what the command says.
    ///   - old: the plugin whose place it is to take.
    /// - Throws: ``BridgeError`` with a sentence that says why it cannot be used.
    public func load(
        _ command: PluginProcessCommand, pool: (String) throws(BridgeError) -> PoolSettings? = { _ in nil },
        inPlaceOf old: PluginInstance? = nil
    ) async throws(BridgeError) -> PluginInstance {
        try await load(beginLoading(command), pool: pool, inPlaceOf: old)
    }

    /// Starts a plugin's process. It says what it is while other plugins are loaded.
    public func beginLoading(_ command: PluginProcessCommand) -> StartingPlugin {
        let hostLog = HostLog(log, plugin: command.name ?? command.path)
        let host = PluginProcessHost(runtime: runtime, log: hostLog)
        let times = PluginProcessSupervisor.Times(
            hello: settings.helloTimeout, ping: settings.pingInterval, start: settings.startTimeout)
        let supervisor = PluginProcessSupervisor(
            command, host: host, runtime: runtime, scheduler: settings.scheduler, times: times, log: hostLog)
        host.supervisor = supervisor
        supervisors.append(supervisor)
        return StartingPlugin(command, host, supervisor)
    }

    /// Waits until a plugin's process has said what it is.
    ///
    /// - Parameters: as those of ``load(_:pool:inPlaceOf:)``.
    /// - Throws: ``BridgeError`` with a sentence that says why it cannot be used.
    public func load(
        _ starting: StartingPlugin, pool: (String) throws(BridgeError) -> PoolSettings?, inPlaceOf old: PluginInstance?
    ) async throws(BridgeError) -> PluginInstance {
        let (host, supervisor) = (starting.host, starting.supervisor)
        do throws(BridgeError) {
            // Options go to a process as text: nothing of them is read on the loop.
            let manifest = try PluginManifest(try await starting.manifest(), optionBytes: .max)
            let settings = try pool(manifest.name) ?? starting.command.pool
            let instance = try enter(manifest, path: starting.command.path, host: host, inPlaceOf: old)
            host.attach(instance)
            if let settings { supervisor.pool = PluginProcessPool(settings, supervisor) }
            return instance
        } catch {
            supervisor.end()
            await forget(supervisor)
            throw error
        }
    }

    private func take(
        _ library: PluginLibrary, path: String, inPlaceOf old: PluginInstance?
    ) throws(BridgeError) -> PluginInstance {
        let manifest = try PluginManifest(parsing: library.manifest)
        guard manifest.interceptors.isEmpty || library.canIntercept else {
            throw BridgeError(.pluginUnavailable, "its manifest has interceptors, and its table lacks intercept")
        }
        PluginHolders.watch()
        let host = InProcessHost(library, runtime: runtime, log: HostLog(log, plugin: manifest.name))
        let instance = try enter(manifest, path: path, host: host, inPlaceOf: old)
        host.attach(instance)
        return instance
    }

    private func enter(
        _ manifest: PluginManifest, path: String, host: any TaskHost, inPlaceOf old: PluginInstance?
    ) throws(BridgeError) -> PluginInstance {
        guard let old else { return try runtime.add(manifest, path: path, host: host) }
        guard manifest.name == old.name else {
            throw BridgeError(
                .pluginUnavailable,
                "it is the plugin \(manifest.name) now, not \(old.name): unload that one, and load it")
        }
        return try runtime.candidate(manifest, path: path, host: host, inPlaceOf: old)
    }

    /// Waits for the end of a plugin's processes, and knows of them no longer.
    func forget(_ supervisor: PluginProcessSupervisor) async {
        await supervisor.hasEnded()
        supervisors.removeAll { $0 === supervisor }
    }

    /// Has the plugin check its section of the configuration, and keep it.
    ///
    /// - Throws: ``BridgeError``, code `configuration.invalid` where the section is at fault: data `path`, `expected`,
    ///   `got`.
    public func configure(_ plugin: PluginInstance, section: JSON) async throws(BridgeError) {
        try await perform(.configure, plugin, section)
    }

    /// Has a running plugin check another section of the configuration, and go on as before.
    ///
    /// - Throws: as ``configure(_:section:)``.
    public func check(_ plugin: PluginInstance, section: JSON) async throws(BridgeError) {
        try await perform(.checkConfiguration, plugin, section)
    }

    /// Has a running plugin go by another section of the configuration from now on. Only where its manifest says that
    /// it can.
    ///
    /// - Throws: as ``configure(_:section:)``; the plugin goes on as before then.
    public func reconfigure(_ plugin: PluginInstance, section: JSON) async throws(BridgeError) {
        let answer = try await perform(.reconfigure, plugin, section)
        try runtime.takeInterceptedTasks(answer, of: plugin)
    }

    /// How long a plugin may take to finish, from now on.
    public func setStopTimeout(_ timeout: Duration) { settings.stopTimeout = timeout }

    /// Starts the plugin, registers its launch workers, and opens its tasks to calls.
    public func start(_ plugin: PluginInstance) async throws(BridgeError) {
        try await begin(plugin)
        for worker in launchWorkers(of: plugin) + prewarming(of: plugin) {
            do throws(LaunchFailure) { try runtime.launch.register(worker) } catch {
                throw BridgeError(.pluginUnavailable, error.description)
            }
        }
        try runtime.open(plugin)
    }

    /// Has the plugin make ready, and say which tasks its interceptors are for.
    func begin(_ plugin: PluginInstance) async throws(BridgeError) {
        let answer = try await perform(.start, plugin, startOptions)
        try runtime.takeInterceptedTasks(answer, of: plugin)
        supervisor(of: plugin)?.openPool()
    }

    func supervisor(of plugin: PluginInstance) -> PluginProcessSupervisor? { supervisors.first { $0.serves(plugin) } }

    /// What fills a plugin's pool at launch. The daemon serves meanwhile, and without it.
    private func prewarming(of plugin: PluginInstance) -> [LaunchWorker<LaunchPhase>] {
        guard let pool = supervisor(of: plugin)?.pool else { return [] }
        return [
            LaunchWorker("plugin.\(plugin.name).prewarm", phase: .afterListening, required: false) {
                try await pool.prewarm()
            }
        ]
    }

    func launchWorkers(of plugin: PluginInstance) -> [LaunchWorker<LaunchPhase>] {
        plugin.manifest.workers.enumerated().map { index, worker in
            LaunchWorker(worker.name, phase: worker.phase, after: worker.after, required: worker.isRequired) {
                [weak self] in try await self?.launch(index, plugin)
            }
        }
    }

    private func launch(_ index: Int, _ plugin: PluginInstance) async throws(BridgeError) {
        do throws(BridgeError) {
            try await perform(.launch(index), plugin, startOptions)
        } catch {
            var error = error
            error.message += " (the plugin \(plugin.path))"
            throw error
        }
    }

    /// The plugin could not be used: it is forgotten, and the reason kept for `bridge.plugins`.
    public func refuse(_ plugin: PluginInstance?, path: String, reason: String) {
        if let plugin { runtime.remove(plugin) }
        runtime.refusedPlugins.append(RefusedPlugin(name: plugin?.name, path: path, reason: reason))
    }

    // MARK: End

    /// Has every plugin finish, all in parallel; those that take too long are left behind.
    public func stopAll() async {
        let plugins = runtime.plugins
        for plugin in plugins + runtime.leavingPlugins { await close(plugin) }
        for plugin in plugins.reversed() {
            do throws(BridgeError) {
                try await perform(.stop, plugin, .object([:]), timeout: settings.stopTimeout)
            } catch {
                log.warning("the plugin \(plugin.name) did not stop: \(error.message)")
            }
            runtime.remove(plugin)
        }
        for task in leaving.values { await task.value }
        // Among them those of plugins that were about to be taken in.
        for supervisor in supervisors { supervisor.end() }
        for supervisor in supervisors { await supervisor.hasEnded() }
        supervisors = []
    }

    /// Ends the calls of a plugin.
    func close(_ plugin: PluginInstance) async {
        await withCheckedContinuation { continuation in runtime.close(plugin) { continuation.resume() } }
    }

    private var startOptions: JSON {
        [
            "stateDirectory": .string(settings.launch.stateDirectory),
            "launch": ["arguments": .array(settings.launch.arguments.map { .string($0) })],
        ]
    }

    @discardableResult
    func perform(
        _ work: PluginWork, _ plugin: PluginInstance, _ options: JSON, timeout: Duration? = nil
    ) async throws(BridgeError) -> JSON {
        let result: Result<JSON, BridgeError> = await withCheckedContinuation { continuation in
            plugin.perform(work, options: options, timeout: timeout ?? settings.startTimeout) {
                continuation.resume(returning: $0)
            }
        }
        return try result.get()
    }
}
