import BridgeServer
import CommandLineSupport
import EventLoop
import Glibc
import LaunchWorkers
import Logging
import TaskHosts
import TaskRuntime

/// The assembled daemon: runtime, plugins and socket, from the first launch worker to the last written byte.
@LoopActor
final class Daemon {
    /// The source of the configuration, also at a reload.
    let source: ConfigurationSource
    /// The configuration as read at the start.
    let reading: ConfigurationReading
    /// The configuration in force.
    var configuration: Configuration
    let log: Logger
    /// The log level; follows the configuration.
    let threshold: LogThreshold
    let runtime: TaskRuntime
    let server: BridgeServer
    let loader: PluginLoader
    let launchOptions: LaunchOptions
    let service: DaemonService
    private let shutdown = ShutdownSignals()
    /// The delay before memory that only the launch needed is returned. Work right after the launch may still use that
    /// memory.
    private static let trimmingDelay = Duration.seconds(1)
    /// The paths of the sockets.
    var listeningAt: [String] = []
    private(set) lazy var reloader = Reloader(self)
    var hangUp: SignalWatcher?
    /// Whether the launch has ended successfully.
    var isReady = false
    /// Resumes its waiters when the launch has ended.
    let launchEnd = AsyncSignal<Void>()
    /// Whether a reload was requested before the launch has ended.
    var isReloadDue = false
    /// Whether a shutdown signal has arrived.
    private(set) var isStopping = false
    /// Runs changes of the current configuration and of the plugins one after the other.
    let changes = AsyncMutex()
    /// The installed plugins.
    var installedPlugins = InstalledPlugins()
    /// Watches the files of plugins; `nil` if they are not watched.
    var pluginWatch: PluginWatch?
    /// Held from launch to exit, so that no second daemon uses the same state.
    var stateLock: StateLock?
    /// Whether the start failed because of an invalid configuration.
    var isMisconfigured = false

    /// - Parameters:
    ///   - reading: The configuration that was read from the source.
    ///   - threshold: The level of the log.
    init(
        _ reading: ConfigurationReading, from source: ConfigurationSource, arguments: [String],
        service: DaemonService, log: Logger, threshold: LogThreshold
    ) {
        let configuration = reading.configuration
        self.source = source
        self.reading = reading
        self.configuration = configuration
        self.service = service
        self.log = log
        self.threshold = threshold
        let clock = LoopClock()
        runtime = TaskRuntime(
            limits: configuration.runtimeLimits, quotas: configuration.quotas, policy: configuration.runtimePolicy,
            daemon: DaemonDescription(version: TrestleVersion.current, pid: getpid()), clock: clock, lane: LoopLane(),
            log: log)
        clock.attach(runtime)
        runtime.localPluginDirectory = configuration.pluginSearch.localInForce.first
        service.sample = { [runtime] in ServiceSample(runtime) }
        runtime.processMetrics = { ProcessMetrics.read() }
        server = BridgeServer(runtime: runtime, limits: configuration.serverLimits, log: log)
        server.urlSchemes = Set(configuration.urlSchemes)
        launchOptions = LaunchOptions(arguments: arguments, stateDirectory: configuration.stateDirectory)
        var settings = PluginLoader.Settings(launch: launchOptions)
        settings.scheduler = server.scheduler
        settings.stopTimeout = configuration.stopTimeout
        settings.helloTimeout = configuration.pluginTimeout
        settings.pingInterval = configuration.pluginTimeout
        loader = PluginLoader(runtime: runtime, settings: settings, log: log)
    }

    /// Launches, serves until a shutdown signal arrives, then drains.
    ///
    /// - Returns: The process's exit status.
    func run() async -> Int32 {
        do {
            try shutdown.watch()
            try serveReloads()
            if !reading.problems.isEmpty { try await refuseConfiguration() }
            for warning in configuration.warnings() { log.warning("\(warning)") }
            for worker in launchWorkers { try runtime.launch.register(worker) }
            try await runtime.launch.run { report($0) }
        } catch {
            log.error("the daemon cannot start: \(error)")
            service.failed("\(error)")
            launchEnd.resumeAll(())
            pluginWatch?.close()
            await loader.stopAll()
            await turnAwayWaiting()
            server.stopListening()
            return isMisconfigured ? ExitStatus.badConfiguration : ExitStatus.cannotStart
        }
        let trimming = LoopTimer { Task.detached { FilePages.release() } }
        trimming.schedule(after: Self.trimmingDelay)
        log.notice("ready: \(runtime.plugins.count) plugins, listening at \(listeningAt.joined(separator: ", "))")
        service.ready()
        becomeReady()
        let signal = await shutdown.first()
        isStopping = true
        trimming.close()
        pluginWatch?.close()
        pluginWatch = nil
        log.notice("\(signal) received: draining \(runtime.callsInFlight) calls; a second signal ends it immediately")
        await drain()
        log.notice("stopped")
        return 0
    }

    private func report(_ report: LaunchReport) {
        let milliseconds = Double(report.duration.wholeNanoseconds / 10_000) / 100
        if let failure = report.failure {
            log.error("the launch worker \(report.name) failed after \(milliseconds) ms: \(failure)")
        } else {
            log.debug("the launch worker \(report.name) took \(milliseconds) ms")
        }
    }

    // MARK: The end

    /// Stops without losing a callback. Accepts no new clients and calls, and waits for calls in flight. Then stops the
    /// plugins, writes the remaining data and closes the connections.
    private func drain() async {
        service.stopping("draining \(runtime.callsInFlight) calls", within: configuration.drainTimeout)
        server.stopListening()
        let handsOver = service.hasDescriptorStore
        if handsOver { server.hold() }
        let timer = LoopTimer { [runtime] in runtime.endCallsInFlight() }
        timer.schedule(after: configuration.drainTimeout)
        await withCheckedContinuation { continuation in runtime.drain { continuation.resume() } }
        timer.close()
        if handsOver { service.stopping("asking plugins for their sessions", within: loader.keepingTime) }
        let shares = handsOver ? await handover.collectShares() : nil
        // The plugins stop one after the other.
        let stopTime = configuration.stopTimeout * runtime.plugins.count + Self.lastWrites
        service.stopping("stopping \(runtime.plugins.count) plugins", within: stopTime)
        await loader.stopAll()
        if let shares { handover.give(shares) }
        await server.close(timeout: Self.lastWrites)
        stateLock = nil
    }

    /// The transfer of sessions to the daemon's next process and from the previous one.
    var handover: SessionHandover {
        SessionHandover(
            runtime: runtime, server: server, loader: loader, service: service, log: log,
            maximumBytes: configuration.limits.handoverBytes)
    }

    /// The time that a client which does not read may delay the exit at the end.
    static let lastWrites = Duration.seconds(1)
}
