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
    /// Those that finish what they have.
    private var leaving: [ObjectIdentifier: Task<Void, Never>] = [:]
    /// How often the library of a path was loaded.
    private var loads: [String: Int] = [:]
    /// A copy of a library costs some 50 KiB and a descriptor, for good.
    private static let mostCopies = 100
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
    public func load(path: String, inPlaceOf old: PluginSlot? = nil) throws(BridgeError) -> PluginSlot {
        let count = loads[path, default: 0]
        guard count <= Self.mostCopies else {
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
    public func adopt(_ table: UnsafeRawPointer, path: String) throws(BridgeError) -> PluginSlot {
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
        _ command: WorkerCommand, pool: (String) throws(BridgeError) -> PoolSettings? = { _ in nil },
        inPlaceOf old: PluginSlot? = nil
    ) async throws(BridgeError) -> PluginSlot {
        let hostLog = HostLog(log, plugin: command.name ?? command.path)
        let host = WorkerHost(runtime: runtime, log: hostLog)
        let times = WorkerSupervisor.Times(
            hello: settings.helloTimeout, ping: settings.pingInterval, start: settings.startTimeout)
        let supervisor = WorkerSupervisor(command, host: host, runtime: runtime, times: times, log: hostLog)
        host.supervisor = supervisor
        supervisors.append(supervisor)
        let manifest: JSON
        do throws(BridgeError) { manifest = try await supervisor.start() } catch {
            await forget(supervisor)
            throw error
        }
        do throws(BridgeError) {
            let manifest = try PluginManifest(manifest)
            let settings = try pool(manifest.name) ?? command.pool
            let slot = try enter(manifest, path: command.path, host: host, inPlaceOf: old)
            host.attach(slot)
            if let settings { supervisor.pool = WorkerPool(settings, supervisor) }
            return slot
        } catch {
            supervisor.end()
            await forget(supervisor)
            throw error
        }
    }

    private func take(
        _ library: PluginLibrary, path: String, inPlaceOf old: PluginSlot?
    ) throws(BridgeError) -> PluginSlot {
        let manifest = try PluginManifest(parsing: library.manifest)
        guard manifest.interceptors.isEmpty || library.canIntercept else {
            throw BridgeError(.pluginUnavailable, "its manifest has interceptors, and its table lacks intercept")
        }
        let host = InProcessHost(library, runtime: runtime, log: HostLog(log, plugin: manifest.name))
        let slot = try enter(manifest, path: path, host: host, inPlaceOf: old)
        host.attach(slot)
        return slot
    }

    private func enter(
        _ manifest: PluginManifest, path: String, host: any TaskHost, inPlaceOf old: PluginSlot?
    ) throws(BridgeError) -> PluginSlot {
        guard let old else { return try runtime.add(manifest, path: path, host: host) }
        guard manifest.name == old.name else {
            throw BridgeError(
                .pluginUnavailable,
                "it is the plugin \(manifest.name) now, not \(old.name): unload that one, and load it")
        }
        return try runtime.candidate(manifest, path: path, host: host, inPlaceOf: old)
    }

    /// Waits for the end of a plugin's processes, and knows of them no longer.
    private func forget(_ supervisor: WorkerSupervisor) async {
        await supervisor.hasEnded()
        supervisors.removeAll { $0 === supervisor }
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
        try await begin(plugin)
        for worker in launchWorkers(of: plugin) + prewarming(of: plugin) {
            do throws(LaunchFailure) { try runtime.launch.register(worker) } catch {
                throw BridgeError(.pluginUnavailable, error.description)
            }
        }
        try runtime.open(plugin)
    }

    /// Has the plugin make ready, and say which tasks its interceptors are for.
    private func begin(_ plugin: PluginSlot) async throws(BridgeError) {
        let answer = try await perform(.start, plugin, startOptions)
        try runtime.takeInterceptedTasks(answer, of: plugin)
        supervisor(of: plugin)?.openPool()
    }

    private func supervisor(of plugin: PluginSlot) -> WorkerSupervisor? { supervisors.first { $0.serves(plugin) } }

    /// What fills a plugin's pool at launch. The daemon serves meanwhile, and without it.
    private func prewarming(of plugin: PluginSlot) -> [LaunchWorker] {
        guard let pool = supervisor(of: plugin)?.pool else { return [] }
        return [
            LaunchWorker("plugin.\(plugin.name).prewarm", phase: .afterListening, required: false) { _ in
                try await pool.prewarm()
            }
        ]
    }

    private func launchWorkers(of plugin: PluginSlot) -> [LaunchWorker] {
        plugin.manifest.workers.enumerated().map { index, worker in
            LaunchWorker(worker.name, phase: worker.phase, after: worker.after, required: worker.isRequired) {
                [weak self] _ in try await self?.launch(index, plugin)
            }
        }
    }

    // MARK: While the daemon serves

    /// Starts a plugin that was loaded after the launch, does at once what it would have done at launch, and opens its
    /// tasks to calls.
    ///
    /// - Throws: ``BridgeError`` with a sentence that says why it does not start; it is still to be refused.
    public func startLate(_ plugin: PluginSlot) async throws(BridgeError) {
        try await prepare(plugin)
        try runtime.open(plugin)
        try await launchLate(plugin, .afterListening)
    }

    /// Puts a plugin in the place of another one: the new one is started first, and only then takes over. The one before
    /// finishes what it has, for as long as the stop timeout says; this does not wait for it.
    ///
    /// What the old one knows of sessions goes to the new one, and new calls wait while it does.
    ///
    /// - Parameter new: was loaded in the place of the old one, and configured.
    /// - Throws: ``BridgeError`` with a sentence that says why the new one is no good; the old one goes on then, and the
    ///   new one has been stopped.
    public func replace(_ old: PluginSlot, by new: PluginSlot) async throws(BridgeError) {
        do throws(BridgeError) {
            try await prepare(new)
            try await handSessions(of: old, to: new)
            guard old.state != .stopping, old.state != .stopped else {
                throw BridgeError(
                    .shuttingDown, "the daemon is stopping and changes no plugins", data: ["started": false],
                    isTransient: true)
            }
            try runtime.replace(old, by: new)
        } catch {
            await drop(new)
            old.resume(.handover)
            throw error
        }
        // What is left of it are questions to its interceptors: they are worked on.
        old.resume(.handover)
        _ = finishing(old)
        do throws(BridgeError) { try await launchLate(new, .afterListening) } catch {
            log.error("\(error.message)")
        }
    }

    private func prepare(_ plugin: PluginSlot) async throws(BridgeError) {
        try await begin(plugin)
        try await launchLate(plugin, .beforeListening)
        try await supervisor(of: plugin)?.pool?.prewarm()
    }

    private func launchLate(_ plugin: PluginSlot, _ phase: LaunchPhase) async throws(BridgeError) {
        let workers = launchWorkers(of: plugin).filter { $0.phase == phase }
        do throws(LaunchFailure) { try await runtime.launch.runLate(workers, settings.launch) } catch {
            throw BridgeError(.pluginUnavailable, error.description)
        }
    }

    /// Most plugins know nothing of sessions. One that does is asked when it works on nothing, and it does not begin
    /// anything before the new one has been told. One that does not answer is not worth keeping for what it knows.
    private func handSessions(of old: PluginSlot, to new: PluginSlot) async throws(BridgeError) {
        guard old.state == .running, await knownSessions(of: old) != nil else { return }
        old.pause(.handover)
        await old.isIdle(within: settings.stopTimeout)
        if let known = await knownSessions(of: old) { try await perform(.restoreSessions, new, known) }
    }

    /// What a plugin knows of sessions; nil: nothing, or it does not say.
    private func knownSessions(of plugin: PluginSlot) async -> JSON? {
        let numbers: JSON = ["sessions": .array(runtime.sessionNumbers.map { .number(JSONNumber($0)) })]
        do throws(BridgeError) {
            let known = try await perform(.keepSessions, plugin, numbers, timeout: settings.stopTimeout)
            return knowsSessions(known) ? known : nil
        } catch {
            log.error(
                "what the plugin \(plugin.name) knows of sessions does not go to its new version: \(error.message)")
            return nil
        }
    }

    private func knowsSessions(_ answer: JSON) -> Bool { answer["states"]?.objectValue?.count ?? 0 > 0 }

    /// Takes a plugin's tasks away, lets it finish what it has for as long as the stop timeout says, and stops it.
    public func unload(_ plugin: PluginSlot) async {
        runtime.retire(plugin)
        await finishing(plugin).value
    }

    /// Lets a plugin that gets no new calls finish, and stops it.
    private func finishing(_ plugin: PluginSlot) -> Task<Void, Never> {
        let id = ObjectIdentifier(plugin)
        let task = Task {
            await plugin.isIdle(within: settings.stopTimeout)
            runtime.close(plugin)
            await drop(plugin)
            leaving[id] = nil
        }
        leaving[id] = task
        return task
    }

    /// A plugin that was loaded is not used after all.
    public func discard(_ plugin: PluginSlot) async { await drop(plugin) }

    /// Stops a plugin that gets no calls.
    private func drop(_ plugin: PluginSlot) async {
        do throws(BridgeError) {
            try await perform(.stop, plugin, .object([:]), timeout: settings.stopTimeout)
        } catch {
            log.warning("the plugin \(plugin.name) did not stop: \(error.message)")
        }
        let supervisor = supervisor(of: plugin)
        runtime.remove(plugin)
        if let supervisor { await forget(supervisor) }
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
        for plugin in plugins + runtime.leavingPlugins { runtime.close(plugin) }
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

extension PluginSlot {
    /// Waits until no call is worked on and none waits that could begin, or until the time is over.
    @LoopActor
    func isIdle(within limit: Duration) async {
        await withCheckedContinuation { continuation in
            var timer: LoopTimer?
            timer = LoopTimer { [unowned self] in
                timer?.close()
                timer = nil
                whenIdle(nil)
                continuation.resume()
            }
            timer?.schedule(after: limit)
            whenIdle {
                LoopActor.assumeIsolated {
                    timer?.close()
                    timer = nil
                }
                continuation.resume()
            }
        }
    }
}
