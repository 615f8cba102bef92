import BridgeServer
import EventLoop
import LaunchWorkers
import Logging
import ServiceManager
import TaskRuntime

// The daemon's own launch workers, in addition to those of its plugins.
extension Daemon {
    var launchWorkers: [LaunchWorker<LaunchPhase>] {
        [
            LaunchWorker("service.environment", phase: .environment) { [unowned self] in
                service.reportProblems()
            },
            LaunchWorker("descriptors.limit", phase: .environment, required: false) { [unowned self] in
                try raiseDescriptorLimit()
            },
            LaunchWorker("state.lock", phase: .environment) { [unowned self] in
                try await lockState()
            },
            LaunchWorker("plugins.load", phase: .plugins) { [unowned self] in try await loadPlugins() },
            // The sessions of the previous process come first, before other clients connect.
            LaunchWorker("sessions.take", phase: .listening) { [unowned self] in
                if service.hasStored { await handover.take() }
            },
            LaunchWorker("socket.listen", phase: .listening, after: ["sessions.take"]) { [unowned self] in
                try await listen()
            },
        ]
    }

    private func lockState() async throws {
        stateLock = try StateLock(directory: launchOptions.stateDirectory)
    }

    private func raiseDescriptorLimit() throws {
        let limit = try DescriptorLimit.raise()
        // If the setting is set, the configuration's own warning contains its location.
        guard configuration.origins["limits.sessions"] == nil else { return }
        if let warning = DescriptorLimit.warning(limit: limit, sessions: configuration.limits.sessions) {
            log.warning("\(warning)")
        }
    }

    /// Listens at the sockets that the service manager passed, else at the daemon's own socket.
    private func listen() async throws {
        while let socket = service.takeSocket() { listeningAt.append(try adopt(socket)) }
        if listeningAt.isEmpty {
            listeningAt = [try listenAtOwnSocket()]
        } else if configuration.origins["socket"] != nil, !listeningAt.contains(configuration.socketPath) {
            log.warning(
                """
                the setting socket (\(configuration.socketPath)) has no effect: the service manager has handed over \
                \(listeningAt.joined(separator: ", "))
                """)
        }
    }

    /// Uses the socket of a service manager unchanged: the manager is responsible for its path and permissions.
    private func adopt(_ socket: consuming InheritedDescriptor) throws(SystemError) -> String {
        let name = socket.name
        do throws(SystemError) {
            return try server.listen(adopting: UnixSocket(adopting: socket.release()))
        } catch {
            throw SystemError(
                code: error.code, operation: "use the socket handed over as", subject: name,
                advice: "\(error); it has to be a Unix stream socket: look at the ListenStream= of its unit")
        }
    }

    private func listenAtOwnSocket() throws(SystemError) -> String {
        try Folder.make(configuration.socketPath.parentFolder, mode: 0o755)
        try Folder.check(around: configuration.socketPath)
        try server.listen(path: configuration.socketPath, mode: configuration.socketMode)
        return configuration.socketPath
    }

    var pluginSet: PluginSet {
        PluginSet(configuration: configuration, loader: loader, runtime: runtime, log: log)
    }

    /// Loads the plugins and lets them check their sections of the configuration. Starts and writes nothing.
    ///
    /// - Returns: The number of plugins.
    /// - Throws: All problems.
    func checkConfiguration() async throws(ConfigurationErrors) -> Int {
        var problems = reading.problems
        var count = 0
        if reading.knowsPlugins {
            do throws(ConfigurationErrors) { count = try await pluginSet.load().enabled.count } catch {
                problems += error.problems
            }
        }
        guard problems.isEmpty else { throw ConfigurationErrors(problems: problems) }
        return count
    }

    /// Logs all problems of an invalid configuration.
    func refuseConfiguration() async throws(Misconfiguration) {
        do throws(ConfigurationErrors) { _ = try await checkConfiguration() } catch { throw note(error) }
    }

    private func note(_ errors: ConfigurationErrors) -> Misconfiguration {
        isMisconfigured = true
        for problem in errors.problems { log.error("\(problem)") }
        return Misconfiguration(problemCount: errors.problems.count)
    }

    /// Returns warnings about rules that probably do not mean what they state about the loaded tasks.
    func taskWarnings() -> [ConfigurationProblem] {
        let tasks =
            runtime.plugins.flatMap(\.manifest.tasks).map { (task: $0.name, permission: $0.permission) }
            + runtime.ownPermissions
        let review = PolicyReview(configuration.policy.rules)
        return review.unreachable(tasks) + review.misnamed(tasks) + review.administering(tasks)
    }

    /// Returns the source of the sample, the reference and the schema.
    func describeConfiguration() async throws(ConfigurationErrors) -> ConfigurationDocument {
        ConfigurationDocument(plugins: try await pluginSet.manifests())
    }

    private func loadPlugins() async throws {
        if configuration.watchesPlugins { pluginWatch = PluginWatch(self) }
        let plugins: PluginSet.Found
        do throws(ConfigurationErrors) {
            plugins = try await pluginSet.load()
            installedPlugins = plugins.installed
        } catch {
            throw note(error)
        }
        await pluginSet.start(plugins.enabled)
    }
}

/// The reason why plugins are not started: errors of the configuration, which were logged individually.
struct Misconfiguration: Error, CustomStringConvertible {
    let problemCount: Int

    var description: String { "errors in the configuration: \(problemCount)" }
}
