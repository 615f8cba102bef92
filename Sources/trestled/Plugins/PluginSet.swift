import BridgeJSON
import EventLoop
import Logging
import TaskHosts
import TaskRuntime

/// The plugins of the configured directories: loaded, held against the configuration, started.
///
/// A library that cannot be used is reported and left out; a configuration that does not fit is the operator's to mend,
/// and the daemon does not start with it.
@LoopActor
struct PluginSet {
    let configuration: Configuration
    let loader: PluginLoader
    let runtime: TaskRuntime
    let log: Logger

    /// What was found.
    struct Found {
        /// Those to be started.
        var enabled: [PluginInstance]
        var installed: InstalledPlugins
    }

    /// Loads and configures all plugins, and starts none.
    ///
    /// - Throws: everything that is wrong with the configuration, at once.
    func load() async throws(ConfigurationErrors) -> Found {
        let paths = try configuration.pluginLibraries()
        if paths.isEmpty {
            let directories = configuration.pluginSearch.named.joined(separator: ", ")
            log.warning("no plugin was found in \(directories); only the daemon's own tasks can be called")
        }
        var loaded: [PluginInstance] = []
        for path in paths { if let plugin = await load(path) { loaded.append(plugin) } }
        var problems = unknownNames(loaded, ofPaths: paths.count)
        let enabled = loaded.filter { !configuration.disabledPlugins.contains($0.name) }
        for plugin in loaded where configuration.disabledPlugins.contains(plugin.name) { runtime.remove(plugin) }
        for plugin in enabled {
            problems += await configure(plugin)
        }
        guard problems.isEmpty else { throw ConfigurationErrors(problems: problems) }
        let installed = InstalledPlugins(
            names: loaded.map(\.name), isComplete: loaded.count == paths.count, libraries: Set(paths))
        return Found(enabled: enabled, installed: installed)
    }

    /// What all plugins that can be loaded say of themselves; none of them is configured.
    func manifests() async throws(ConfigurationErrors) -> [PluginManifest] {
        var manifests: [PluginManifest] = []
        for path in try configuration.pluginLibraries() {
            guard let plugin = await load(path) else { continue }
            manifests.append(await withCheckedContinuation { done in plugin.describe { done.resume(returning: $0) } })
        }
        return manifests
    }

    /// Starts what was loaded. A plugin that fails is reported and left out.
    func start(_ plugins: [PluginInstance]) async {
        for plugin in plugins {
            do throws(BridgeError) {
                try await loader.start(plugin)
                log.info("the plugin \(plugin.name) \(plugin.manifest.version) was started from \(plugin.path)")
            } catch {
                refuse(plugin, path: plugin.path, "it does not start: \(error.message)")
            }
        }
    }

    private func load(_ path: String) async -> PluginInstance? {
        do throws(BridgeError) {
            return try await open(path)
        } catch {
            refuse(nil, path: path, error.message)
            return nil
        }
    }

    /// Loads the plugin of a file, and configures nothing.
    ///
    /// Where a library is loaded, its section says, else ``Configuration/usualIsolation(ofLibrary:)``. What the section
    /// is called, the library says: so it is loaded first where it would be without one.
    ///
    /// - Parameter old: the plugin whose place it is to take.
    func open(_ path: String, inPlaceOf old: PluginInstance? = nil) async throws(BridgeError) -> PluginInstance {
        if path.hasSuffix(PluginProcessManifest.suffix) {
            return try await startProcess(try PluginProcessManifest.command(at: path), inPlaceOf: old)
        }
        let usual = configuration.usualIsolation(ofLibrary: path)
        if let old { return try await open(path, configuration.isolation(of: old.name) ?? usual, inPlaceOf: old) }
        let plugin = try await open(path, usual)
        guard let wanted = configuration.isolation(of: plugin.name), wanted != usual else { return plugin }
        runtime.remove(plugin)
        return try await open(path, wanted)
    }

    private func open(
        _ library: String, _ isolation: PluginIsolation, inPlaceOf old: PluginInstance? = nil
    ) async throws(BridgeError) -> PluginInstance {
        switch isolation {
        case .none: try loader.load(path: library, inPlaceOf: old)
        case .process: try await startProcess(try PluginHostProgram.command(forLibrary: library), inPlaceOf: old)
        }
    }

    private func startProcess(_ command: PluginProcessCommand, inPlaceOf old: PluginInstance?) async throws(BridgeError)
        -> PluginInstance
    {
        try await loader.load(command, pool: { configuration.pool(of: $0) }, inPlaceOf: old)
    }

    private func refuse(_ plugin: PluginInstance?, path: String, _ reason: String) {
        log.error("the plugin \(path) is not used: \(reason)")
        loader.refuse(plugin, path: path, reason: reason)
    }

    /// Sections and names of plugins that there are not. Where a library could not be loaded they may be that one's,
    /// and are no more than a warning.
    private func unknownNames(_ loaded: [PluginInstance], ofPaths pathCount: Int) -> [ConfigurationProblem] {
        let problems = configuration.problems(installedPlugins: loaded.map(\.name))
        guard loaded.count < pathCount else { return problems }
        for problem in problems { log.warning("\(problem)") }
        return []
    }

    /// Has a plugin check and keep its section; what is wrong with it.
    func configure(_ plugin: PluginInstance) async -> [ConfigurationProblem] {
        let problems = [
            configuration.isolationProblem(of: plugin.name),
            configuration.poolProblem(of: plugin.name, plugin.isolation),
        ]
        let loader = loader
        return await problems.compactMap { $0 }
            + configuration.refusals(of: plugin.name) { section throws(BridgeError) in
                try await loader.configure(plugin, section: section)
            }
    }
}

/// The plugins that are there, disabled ones too.
struct InstalledPlugins: Sendable {
    var names: [String] = []
    /// Whether every library could be loaded, so that there are no other names.
    var isComplete = true
    /// Their files, by their paths.
    var libraries: Set<String> = []
}
