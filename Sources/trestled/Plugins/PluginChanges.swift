// Plugins that are loaded, unloaded and replaced while the daemon serves.
import BridgeJSON
import EventLoop
import Logging
import TaskHosts
import TaskRuntime

extension Daemon {
    /// Carries out a change for a call, after those in progress.
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

    /// Carries out a change.
    ///
    /// - Throws: The reason why it is impossible; nothing has changed then.
    func carryOut(_ change: PluginChange) async throws(BridgeError) -> JSON {
        // Calls arrive already during the launch, when not all plugins are loaded.
        if !isReady { _ = await launchEnd.wait() }
        let change = try await changes.take { () throws(BridgeError) in try await begin(change) }
        // Other changes do not wait for this: an unloaded plugin remains as long as its users' streams make progress.
        await change.end?.value
        return change.answer
    }

    /// A change that was carried out.
    private struct Change {
        let answer: JSON
        /// A task that must end before the answer is sent; `nil` if there is none.
        var end: Task<Void, Never>?
    }

    private func begin(_ change: PluginChange) async throws(BridgeError) -> Change {
        guard isReady, !isStopping else {
            throw BridgeError(
                .daemonStopping, "the daemon is stopping and changes no plugins", data: ["started": false],
                isTransient: true)
        }
        switch change {
        case .load(let path): return Change(answer: try await load(path))
        case .unload(let name): return unload(try plugin(name))
        case .reload(let name, let path):
            switch try plugin(name) {
            case .loaded(let plugin): return Change(answer: try await reload(plugin, from: path ?? plugin.path))
            case .refused(let plugin): return Change(answer: try await load(path ?? plugin.path))
            }
        }
    }

    /// The plugin that a change concerns.
    private enum KnownPlugin {
        case loaded(PluginInstance)
        case refused(RefusedPlugin)
    }

    private func plugin(_ name: String) throws(BridgeError) -> KnownPlugin {
        if let plugin = runtime.plugins.first(where: { $0.name == name }) { return .loaded(plugin) }
        if let plugin = runtime.refusedPlugins.last(where: { $0.name == name }) { return .refused(plugin) }
        throw BridgeError(.pluginUnavailable, "the plugin \(name) no longer exists")
    }

    private func checkPath(_ path: String) throws(BridgeError) {
        guard path.hasSuffix(".so") || path.hasSuffix(PluginProcessManifest.suffix) else {
            throw BridgeError(
                JSONMismatch(
                    path: "$.path", expected: "a library, NAME.so, or a manifest, NAME\(PluginProcessManifest.suffix)",
                    got: "\"\(path)\""))
        }
    }

    /// Returns whether the plugin of a file will also be loaded at the next start of the daemon.
    private func isPermanent(_ path: String) async -> Bool {
        let search = configuration.pluginSearch
        return await BlockingWork.run {
            guard let libraries = try? search.libraries() else { return false }
            return libraries.contains { $0 == path || $0.resolvedPath == path.resolvedPath }
        }
    }

    // MARK: Load

    private func load(_ path: String) async throws(BridgeError) -> JSON {
        try checkPath(path)
        if let plugin = runtime.plugins.first(where: { $0.path == path }) { throw plugin.isLoadedAlready }
        let set = try await pluginSetByFile()
        let plugin: PluginInstance
        do throws(BridgeError) { plugin = try await set.open(path) } catch { throw await explained(error) }
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
        var answer = note(plugin, set, "was loaded")
        answer["permanent"] = .bool(await isPermanent(path))
        return .object(answer)
    }

    /// Returns a refusal because of an already loaded plugin, completed with whether that plugin is permanent.
    private func explained(_ error: BridgeError) async -> BridgeError {
        guard var loaded = error.data?["loaded"]?.objectValue, let path = loaded["path"]?.stringValue else {
            return error
        }
        loaded["permanent"] = .bool(await isPermanent(path))
        var error = error
        error.data = ["loaded": .object(loaded)]
        return error
    }

    /// Returns the plugins with the current sections of the configuration file, which a new or reloaded plugin uses.
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

    private func configure(_ plugin: PluginInstance, _ set: PluginSet) async throws(BridgeError) {
        let problems = await set.configure(plugin)
        guard let first = problems.first else { return }
        throw BridgeError(.configurationInvalid, "\(first)", data: ["problems": .array(problems.map(\.json))])
    }

    /// Records a plugin that is now loaded, and its current section.
    private func note(_ plugin: PluginInstance, _ set: PluginSet, _ what: String) -> JSONObject {
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

    private func unload(_ plugin: KnownPlugin) -> Change {
        switch plugin {
        case .loaded(let plugin):
            let stop = loader.unload(plugin)
            let end = Task {
                await stop.value
                log.notice("the plugin \(plugin.name) was unloaded")
            }
            return Change(answer: isConfigured(plugin.name) ? ["configured": true] : [:], end: end)
        case .refused(let plugin):
            runtime.refusedPlugins.removeAll { $0.path == plugin.path }
            return Change(answer: isConfigured(plugin.name) ? ["configured": true] : [:])
        }
    }

    /// Returns whether the configuration names a plugin. Such a plugin must exist when the daemon starts.
    private func isConfigured(_ name: String) -> Bool {
        configuration.section(of: name) != nil || configuration.disabledPlugins.contains(name)
    }

    // MARK: Reload

    private func reload(_ old: PluginInstance, from path: String) async throws(BridgeError) -> JSON {
        try checkPath(path)
        do throws(BridgeError) {
            let set = try await pluginSetByFile()
            let new = try await set.open(path, inPlaceOf: old)
            do throws(BridgeError) { try await configure(new, set) } catch {
                await loader.discard(new)
                throw error
            }
            try await loader.replace(old, by: new)
            installedPlugins.libraries.insert(path)
            return .object(note(new, set, "was reloaded"))
        } catch {
            log.error("the plugin \(old.name) is unchanged: \(error.message)")
            throw BridgeError(
                error.code == .configurationInvalid ? .configurationInvalid : .pluginUnavailable,
                "the new version cannot be used, and the plugin \(old.name) is unchanged: \(error.message)",
                data: error.data)
        }
    }
}
