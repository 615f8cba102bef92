// Plugins that come, go and take each other's places while the daemon serves.
import BridgeJSON
import EventLoop
import Logging
import TaskHosts
import TaskRuntime

extension Daemon {
    /// Carries a change out on behalf of a call, after those that are under way.
    func carryOut(_ change: PluginChange, for call: CallHandle) {
        Task {
            let outcome: Result<JSON, BridgeError>
            do throws(BridgeError) {
                outcome = .success(try await carryOut(change))
            } catch {
                outcome = .failure(error)
            }
            runtime.answer(call, outcome)
        }
    }

    /// - Throws: why it cannot be done; everything is then as it was.
    func carryOut(_ change: PluginChange) async throws(BridgeError) -> JSON {
        // While it launches, calls come in already, and plugins are not all there.
        if !isReady { _ = await launchEnd.wait() }
        return try await changes.take { () throws(BridgeError) in
            guard isReady, !isStopping else {
                throw BridgeError(
                    .shuttingDown, "the daemon is stopping and changes no plugins", data: ["started": false],
                    isTransient: true)
            }
            switch change {
            case .load(let path): return try await load(path)
            case .unload(let name): return try await unload(try plugin(name))
            case .reload(let name): return try await reload(try plugin(name))
            }
        }
    }

    private func plugin(_ name: String) throws(BridgeError) -> PluginSlot {
        guard let plugin = runtime.plugins.first(where: { $0.name == name }) else {
            throw BridgeError(.pluginUnavailable, "the plugin \(name) is not there any more")
        }
        return plugin
    }

    // MARK: Load

    private func load(_ path: String) async throws(BridgeError) -> JSON {
        guard path.hasSuffix(".so") || path.hasSuffix(WorkerManifest.suffix) else {
            throw BridgeError(
                JSONMismatch(
                    path: "$.path", expected: "a library, NAME.so, or a manifest, NAME\(WorkerManifest.suffix)",
                    got: "\"\(path)\""))
        }
        if let plugin = runtime.plugins.first(where: { $0.path == path }) {
            throw BridgeError(
                .pluginUnavailable,
                "the plugin \(plugin.name) was loaded from there: bridge.plugin.reload loads it anew")
        }
        let set = try await pluginSetByFile()
        let plugin = try await set.open(path)
        do throws(BridgeError) {
            if set.configuration.disabledPlugins.contains(plugin.name) {
                throw BridgeError(.pluginUnavailable, "the configuration disables the plugin \(plugin.name)")
            }
            try await configure(plugin, set)
            try await loader.startLate(plugin)
        } catch {
            await loader.discard(plugin)
            throw error
        }
        if !installedPlugins.names.contains(plugin.name) { installedPlugins.names.append(plugin.name) }
        installedPlugins.libraries.insert(path)
        return note(plugin, set, "was loaded")
    }

    /// The plugins as the configuration's file has them now: a plugin that comes, or comes anew, goes by its section
    /// there.
    private func pluginSetByFile() async throws(BridgeError) -> PluginSet {
        let source = source
        var current = configuration
        do throws(ConfigurationErrors) {
            let file = try await BlockingWork.run { () throws(ConfigurationErrors) in try source.load() }
            current.file = file.file
            current.disabledPlugins = file.disabledPlugins
            current.pluginSections = file.pluginSections
        } catch {
            throw error.refusal
        }
        return PluginSet(configuration: current, loader: loader, runtime: runtime, log: log)
    }

    private func configure(_ plugin: PluginSlot, _ set: PluginSet) async throws(BridgeError) {
        guard let problem = await set.configure(plugin) else { return }
        throw BridgeError(.configInvalid, "\(problem)", data: ["problems": [problem.json]])
    }

    /// The plugin is at work, by the section that it has now.
    private func note(_ plugin: PluginSlot, _ set: PluginSet, _ what: String) -> JSON {
        let isOfOther = { (section: PluginSection) in section.name != plugin.name }
        configuration.pluginSections =
            configuration.pluginSections.filter(isOfOther) + set.configuration.pluginSections.filter { !isOfOther($0) }
        runtime.refusedPlugins.removeAll { $0.path == plugin.path }
        log.notice("the plugin \(plugin.name) \(plugin.manifest.version) \(what) from \(plugin.path)")
        return [
            "name": .string(plugin.name), "version": .string(plugin.manifest.version),
            "tasks": .array(plugin.manifest.tasks.map { .string($0.name) }),
        ]
    }

    // MARK: Unload

    private func unload(_ plugin: PluginSlot) async throws(BridgeError) -> JSON {
        await loader.unload(plugin)
        log.notice("the plugin \(plugin.name) was unloaded")
        return [:]
    }

    // MARK: Reload

    private func reload(_ old: PluginSlot) async throws(BridgeError) -> JSON {
        do throws(BridgeError) {
            let set = try await pluginSetByFile()
            let new = try await set.open(old.path, inPlaceOf: old)
            do throws(BridgeError) { try await configure(new, set) } catch {
                await loader.discard(new)
                throw error
            }
            try await loader.replace(old, by: new)
            return note(new, set, "was loaded anew")
        } catch {
            log.error("the plugin \(old.name) stays as it is: \(error.message)")
            throw BridgeError(
                error.code == .configInvalid ? .configInvalid : .pluginUnavailable,
                "what is there now is no good, and the plugin \(old.name) stays as it is: \(error.message)",
                data: error.data)
        }
    }
}
