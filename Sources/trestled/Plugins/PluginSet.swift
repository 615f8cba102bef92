import BridgeJSON
import EventLoop
import Logging
import TaskHosts
import TaskRuntime

/// The plugins of the configured directories: loading, configuring, starting.
///
/// An unusable library is logged and left out. If the configuration is invalid, the daemon does not start.
@LoopActor
struct PluginSet {
    let configuration: Configuration
    let loader: PluginLoader
    let runtime: TaskRuntime
    let log: Logger

    /// The plugins that were found.
    struct Found {
        /// The plugins to start.
        var enabled: [PluginInstance]
        var installed: InstalledPlugins
    }

    /// Loads and configures all plugins; does not start them.
    ///
    /// - Throws: All problems of the configuration together.
    func load() async throws(ConfigurationErrors) -> Found {
        let paths = try configuration.pluginLibraries()
        if paths.isEmpty {
            let directories = configuration.pluginSearch.named.joined(separator: ", ")
            log.warning("no plugin was found in \(directories); only the daemon's own tasks can be called")
        }
        let loaded = await load(paths)
        var problems = unknownNames(loaded, ofPaths: paths.count)
        let enabled = loaded.filter { !configuration.disabledPlugins.contains($0.name) }
        for plugin in loaded where configuration.disabledPlugins.contains(plugin.name) { runtime.remove(plugin) }
        // At the same time, because the first answer of a process takes some milliseconds.
        let checks = enabled.map { plugin in Task.immediate { @LoopActor in await configure(plugin) } }
        for check in checks { problems += await check.value }
        guard problems.isEmpty else { throw ConfigurationErrors(problems: problems) }
        let installed = InstalledPlugins(
            names: loaded.map(\.name), isComplete: loaded.count == paths.count, libraries: Set(paths))
        return Found(enabled: enabled, installed: installed)
    }

    /// Returns the manifests of all plugins that can be loaded; does not configure them.
    func manifests() async throws(ConfigurationErrors) -> [PluginManifest] {
        var manifests: [PluginManifest] = []
        for plugin in await load(try configuration.pluginLibraries()) {
            manifests.append(await withCheckedContinuation { done in plugin.describe { done.resume(returning: $0) } })
        }
        return manifests
    }

    /// Starts the loaded plugins. A plugin that fails is logged and left out.
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

    /// A plugin that is not complete yet: its process sends its manifest, or its library is open.
    private enum Beginning {
        case process(StartingPlugin)
        case library(OpenedLibrary)
    }

    /// Loads plugins in their order and logs those that cannot be used. All processes are started first: each takes
    /// tens of milliseconds, in which the libraries are opened.
    private func load(_ paths: [String]) async -> [PluginInstance] {
        let processes = paths.map { path in Result { () throws(BridgeError) in try beginProcess(path) } }
        let beginnings = zip(paths, processes).map { path, process in
            Result { () throws(BridgeError) in try begin(path, process.get()) }
        }
        var loaded: [PluginInstance] = []
        for (path, beginning) in zip(paths, beginnings) {
            do throws(BridgeError) {
                loaded.append(try await complete(path, try beginning.get()))
            } catch {
                refuse(nil, path: path, error.message)
            }
        }
        return loaded
    }

    /// Starts the process of a plugin that requires one; returns `nil` for a library that the daemon loads.
    private func beginProcess(_ path: String) throws(BridgeError) -> StartingPlugin? {
        if path.hasSuffix(PluginProcessManifest.suffix) {
            return loader.beginLoading(try PluginProcessManifest.command(at: path))
        }
        guard configuration.usualIsolation(ofLibrary: path) == .process else { return nil }
        return loader.beginLoading(try PluginHostProgram.command(forLibrary: path))
    }

    /// Opens the library of a plugin without a process.
    private func begin(_ path: String, _ process: StartingPlugin?) throws(BridgeError) -> Beginning {
        if let process { return .process(process) }
        return .library(try loader.open(path: path))
    }

    /// Loads the plugin of a file; does not configure it.
    ///
    /// The section of a library specifies where it is loaded, else ``Configuration/usualIsolation(ofLibrary:)``. Only
    /// the library itself specifies its name and thereby its section, so it is first loaded in the usual place.
    ///
    /// - Parameter old: The plugin that it replaces; `nil` if there is none.
    func open(_ path: String, inPlaceOf old: PluginInstance? = nil) async throws(BridgeError) -> PluginInstance {
        guard let old, !path.hasSuffix(PluginProcessManifest.suffix) else {
            return try await complete(path, try begin(path, beginProcess(path)), inPlaceOf: old)
        }
        let usual = configuration.usualIsolation(ofLibrary: path)
        return try await open(path, configuration.isolation(of: old.name) ?? usual, inPlaceOf: old)
    }

    /// Completes the loading of a plugin.
    private func complete(
        _ path: String, _ beginning: Beginning, inPlaceOf old: PluginInstance? = nil
    ) async throws(BridgeError) -> PluginInstance {
        let plugin: PluginInstance
        let place: PluginIsolation
        switch beginning {
        case .process(let process): (plugin, place) = (try await take(process, inPlaceOf: old), .process)
        case .library(let library): (plugin, place) = (try loader.load(library, inPlaceOf: old), .none)
        }
        guard !path.hasSuffix(PluginProcessManifest.suffix),
            let wanted = configuration.isolation(of: plugin.name), wanted != place
        else { return plugin }
        runtime.remove(plugin)
        return try await open(path, wanted)
    }

    private func open(
        _ library: String, _ isolation: PluginIsolation, inPlaceOf old: PluginInstance? = nil
    ) async throws(BridgeError) -> PluginInstance {
        switch isolation {
        case .none: return try loader.load(path: library, inPlaceOf: old)
        case .process:
            let starting = loader.beginLoading(try PluginHostProgram.command(forLibrary: library))
            return try await take(starting, inPlaceOf: old)
        }
    }

    private func take(_ starting: StartingPlugin, inPlaceOf old: PluginInstance?) async throws(BridgeError)
        -> PluginInstance
    {
        try await loader.load(starting, pool: { configuration.pool(of: $0) }, inPlaceOf: old)
    }

    private func refuse(_ plugin: PluginInstance?, path: String, _ reason: String) {
        log.error("the plugin \(path) is not used: \(reason)")
        loader.refuse(plugin, path: path, reason: reason)
    }

    /// Returns problems for sections and names of plugins that do not exist. If a library could not be loaded, the
    /// names may belong to it, so they are only logged as warnings.
    private func unknownNames(_ loaded: [PluginInstance], ofPaths pathCount: Int) -> [ConfigurationProblem] {
        let problems = configuration.problems(installedPlugins: loaded.map(\.name))
        guard loaded.count < pathCount else { return problems }
        for problem in problems { log.warning("\(problem)") }
        return []
    }

    /// Lets a plugin check and store its section; returns the problems.
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

/// The installed plugins, including disabled ones.
struct InstalledPlugins: Sendable {
    var names: [String] = []
    /// Whether every library could be loaded, so that all names are known.
    var isComplete = true
    /// The paths of their files.
    var libraries: Set<String> = []
}
