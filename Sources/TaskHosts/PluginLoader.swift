// TaskHosts: the hosts that run plugins: libraries in the daemon's process (InProcess), libraries and programs in
// processes of their own (Processes). Each host reaches the runtime through a plugin's instance, and is independent of
// clients and dialects.
public import BridgeJSON
public import EventLoop
import LaunchWorkers
public import Logging
import PluginInterface
public import TaskRuntime

/// Loads, configures, starts and stops plugins, and registers their launch workers.
@LoopActor
public final class PluginLoader {
    /// The parts of the daemon's configuration and start options that plugins need.
    public struct Settings: Sendable {
        /// The start options of the daemon, for plugins.
        public var launch: LaunchOptions
        /// The time limit for a plugin to configure itself, to start, or to run a launch worker.
        public var startTimeout = Duration.seconds(60)
        /// The time limit for a plugin to finish.
        public var stopTimeout = Duration.seconds(5)
        /// The time limit for a plugin's process to answer `plugin.hello`.
        public var helloTimeout = Duration.seconds(10)
        /// The scheduler that shares the loop between users; each process of a plugin counts as one. `nil` to read
        /// processes whenever they send.
        public var scheduler: FairScheduler?
        /// The time between pings of a plugin's process, and the time limit for the answer to a ping.
        public var pingInterval = Duration.seconds(10)

        /// Settings with default values except `launch`.
        public init(launch: LaunchOptions) { self.launch = launch }
    }

    let runtime: TaskRuntime
    private(set) var settings: Settings
    /// The supervisors of all processes that were started for plugins.
    private var supervisors: [PluginProcessSupervisor] = []
    /// The waits for plugins that get no new calls and finish the calls that they have.
    var leaving: [ObjectIdentifier: Task<Void, Never>] = [:]
    /// The number of times that the library at a path was loaded.
    private var loads: [String: Int] = [:]
    /// The maximum number of copies of a library. Each costs about 50 KiB and a descriptor, permanently.
    private static let maximumCopies = 100
    let log: Logger

    /// A loader without plugins.
    public init(runtime: TaskRuntime, settings: Settings, log: Logger) {
        self.runtime = runtime
        self.settings = settings
        self.log = log
    }

    // MARK: Start

    /// Loads a library and reads its manifest. Only the entry point of the plugin has run afterwards.
    ///
    /// - Parameter old: The plugin that it will replace; the old library stays in the process.
    /// - Throws: ``BridgeError`` with a sentence that states why it cannot be used.
    public func load(path: String, inPlaceOf old: PluginInstance? = nil) throws(BridgeError) -> PluginInstance {
        try load(open(path: path), inPlaceOf: old)
    }

    /// Opens a library and runs its entry point. The runtime does not know the plugin yet.
    ///
    /// - Throws: ``BridgeError`` with a sentence that states why it cannot be used.
    public func open(path: String) throws(BridgeError) -> OpenedLibrary {
        let count = loads[path, default: 0]
        guard count <= Self.maximumCopies else {
            throw BridgeError(
                .pluginUnavailable,
                """
                it was loaded \(count) times, and code is never unloaded: set isolation = "process" in its \
                section and restart the daemon to load it without this limit
                """)
        }
        do {
            let copy = count > 0 ? try MemoryFile.copy(of: path, named: "trestle-plugin").keep() : nil
            loads[path] = count + 1
            return OpenedLibrary(library: try PluginLibrary(path: path, copy: copy), path: path)
        } catch {
            throw BridgeError(.pluginUnavailable, "\(error)")
        }
    }

    /// Reads the manifest of an opened library, and adds its plugin to the runtime.
    ///
    /// - Parameter old: As that of ``load(path:inPlaceOf:)``.
    /// - Throws: ``BridgeError`` with a sentence that states why it cannot be used.
    public func load(
        _ opened: OpenedLibrary, inPlaceOf old: PluginInstance? = nil
    ) throws(BridgeError) -> PluginInstance {
        try take(opened.library, path: opened.path, inPlaceOf: old)
    }

    /// Adds a plugin whose function table exists already, for tests.
    public func adopt(_ table: UnsafeRawPointer, path: String) throws(BridgeError) -> PluginInstance {
        let library: PluginLibrary
        do { library = try PluginLibrary(table: table) } catch {
            throw BridgeError(.pluginUnavailable, error.description)
        }
        return try take(library, path: path, inPlaceOf: nil)
    }

    /// Starts a plugin's process and reads its manifest. The plugin is not configured yet.
    ///
    /// - Parameters:
    ///   - pool: Returns the pool settings for the plugin's name; `nil` for the settings of the command.
    ///   - old: The plugin that it will replace.
    /// - Throws: ``BridgeError`` with a sentence that states why it cannot be used.
    public func load(
        _ command: PluginProcessCommand, pool: (String) throws(BridgeError) -> PoolSettings? = { _ in nil },
        inPlaceOf old: PluginInstance? = nil
    ) async throws(BridgeError) -> PluginInstance {
        try await load(beginLoading(command), pool: pool, inPlaceOf: old)
    }

    /// Starts a plugin's process. It sends its manifest while other plugins are loaded.
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

    /// Waits until a plugin's process has sent its manifest.
    ///
    /// - Parameters: As those of ``load(_:pool:inPlaceOf:)``.
    /// - Throws: ``BridgeError`` with a sentence that states why it cannot be used.
    public func load(
        _ starting: StartingPlugin, pool: (String) throws(BridgeError) -> PoolSettings?, inPlaceOf old: PluginInstance?
    ) async throws(BridgeError) -> PluginInstance {
        let (host, supervisor) = (starting.host, starting.supervisor)
        do throws(BridgeError) {
            // Options go to a process as text and are not read on the loop.
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

    /// Waits for the end of a plugin's processes, and removes their supervisor.
    func forget(_ supervisor: PluginProcessSupervisor) async {
        await supervisor.hasEnded()
        supervisors.removeAll { $0 === supervisor }
    }

    /// Sets the time limit for a plugin to finish.
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

    /// Starts the plugin, and stores the tasks that its interceptors are for.
    func begin(_ plugin: PluginInstance) async throws(BridgeError) {
        let answer = try await perform(.start, plugin, startOptions)
        try runtime.takeInterceptedTasks(answer, of: plugin)
        supervisor(of: plugin)?.openPool()
    }

    func supervisor(of plugin: PluginInstance) -> PluginProcessSupervisor? { supervisors.first { $0.serves(plugin) } }

    /// Returns the launch worker that fills a plugin's pool. The daemon serves calls meanwhile, and also if it fails.
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

    /// Removes a plugin that could not be used, and stores the reason for `bridge.plugins`.
    public func refuse(_ plugin: PluginInstance?, path: String, reason: String) {
        if let plugin { runtime.remove(plugin) }
        runtime.refusedPlugins.append(RefusedPlugin(name: plugin?.name, path: path, reason: reason))
    }

    // MARK: End

    /// Stops every plugin, the last one first, and waits at most the stop timeout for each.
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
        // This includes the supervisors of plugins that were about to be added.
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
