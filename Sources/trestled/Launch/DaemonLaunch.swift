import BridgeServer
import EventLoop
import Logging
import TaskRuntime

// What the daemon itself does at launch, beside what its plugins do.
extension Daemon {
    var launchWorkers: [LaunchWorker] {
        [
            LaunchWorker("state.lock", phase: .environment) { [unowned self] options in
                try await lockState(options)
            },
            LaunchWorker("plugins.load", phase: .plugins) { [unowned self] _ in try await loadPlugins() },
            LaunchWorker("socket.listen", phase: .listening) { [unowned self] _ in try await listen() },
        ]
    }

    private func lockState(_ options: LaunchOptions) async throws {
        stateLock = try StateLock(directory: options.stateDirectory)
    }

    private func listen() async throws {
        let folder = configuration.socketPath.parentFolder
        try Folder.make(folder, mode: 0o755)
        try Folder.checkOwner(of: folder)
        try server.listen(path: configuration.socketPath, mode: configuration.socketMode)
    }

    private var pluginSet: PluginSet {
        PluginSet(configuration: configuration, loader: loader, runtime: runtime, log: log)
    }

    /// Loads the plugins and has them check their sections of the configuration; nothing is started or written.
    ///
    /// - Returns: how many plugins there are.
    /// - Throws: everything that is wrong.
    func checkConfiguration() async throws(ConfigurationErrors) -> Int { try await pluginSet.load().count }

    private func loadPlugins() async throws {
        let plugins: [PluginSlot]
        do throws(ConfigurationErrors) {
            plugins = try await pluginSet.load()
        } catch {
            isMisconfigured = true
            for problem in error.problems { log.error("\(problem)") }
            throw Misconfiguration(problemCount: error.problems.count)
        }
        await pluginSet.start(plugins)
    }
}

/// Why plugins are not started: errors of the configuration, which have been told one by one.
private struct Misconfiguration: Error, CustomStringConvertible {
    let problemCount: Int

    var description: String { "errors in the configuration: \(problemCount)" }
}
