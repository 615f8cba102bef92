public import BridgeJSON
import EventLoop
import LaunchWorkers
import Logging
public import TaskRuntime

// Plugins that are loaded, unloaded and replaced while the daemon runs.
extension PluginLoader {
    /// Starts a plugin that was loaded after the launch, runs its launch workers immediately, and opens its tasks to
    /// calls.
    ///
    /// - Throws: ``BridgeError`` with a sentence that states why it does not start; the caller must still refuse it.
    public func startLate(_ plugin: PluginInstance) async throws(BridgeError) {
        try await prepare(plugin)
        try runtime.open(plugin)
        try await launchLate(plugin, .afterListening)
    }

    /// Replaces a plugin by another one, which is started first. The old one finishes its calls within the stop
    /// timeout, and its streams as long as they move; this does not wait for it.
    ///
    /// The old plugin's session state goes to the new one. New calls wait meanwhile.
    ///
    /// - Parameter new: The plugin that was loaded in place of the old one, and configured.
    /// - Throws: ``BridgeError`` with a sentence that states why the new one cannot be used. In this case the old one
    ///   continues, and the new one has been stopped.
    public func replace(_ old: PluginInstance, by new: PluginInstance) async throws(BridgeError) {
        do throws(BridgeError) {
            try await prepare(new)
            try await handSessions(of: old, to: new)
            guard old.state != .stopping, old.state != .stopped else {
                throw BridgeError(
                    .daemonStopping, "the daemon is stopping and changes no plugins", data: ["started": false],
                    isTransient: true)
            }
            try runtime.replace(old, by: new)
        } catch {
            await drop(new)
            old.resume(.handover)
            throw error
        }
        // Only questions to the old plugin's interceptors are left: it works on them.
        old.resume(.handover)
        _ = finishing(old)
        do throws(BridgeError) { try await launchLate(new, .afterListening) } catch {
            log.error("\(error.message)")
        }
    }

    private func prepare(_ plugin: PluginInstance) async throws(BridgeError) {
        try await begin(plugin)
        try await launchLate(plugin, .beforeListening)
        try await supervisor(of: plugin)?.pool?.prewarm()
    }

    private func launchLate(_ plugin: PluginInstance, _ phase: LaunchPhase) async throws(BridgeError) {
        let workers = launchWorkers(of: plugin).filter { $0.phase == phase }
        do throws(LaunchFailure) { try await runtime.launch.runLate(workers) } catch {
            throw BridgeError(.pluginUnavailable, error.description)
        }
    }

    /// Moves the session state of the old plugin to the new one. Most plugins have none. A plugin with state is asked
    /// when it has no work, and begins no calls before the new one has got the state. If it does not answer, it is
    /// replaced without the state.
    private func handSessions(of old: PluginInstance, to new: PluginInstance) async throws(BridgeError) {
        guard old.state == .running, await !knownSessions(of: old).isEmpty else { return }
        old.pause(.handover)
        await isIdle(old)
        for known in await knownSessions(of: old) { try await perform(.restoreSessions, new, known) }
    }

    /// Returns a plugin's session state, in parts; empty if it has none or does not answer.
    private func knownSessions(of plugin: PluginInstance) async -> [JSON] {
        var kept = KeptSessions()
        await saveSessions(runtime.sessionNumbers, by: plugin, in: &kept)
        for lost in kept.lost {
            log.error(
                "the state of the plugin \(plugin.name) for a session is not passed on: \(lost.reason)",
                metadata: runtime.session(lost.session)?.logMetadata)
        }
        return kept.states.map(\.state)
    }

    /// Removes a plugin's tasks, lets it finish its calls within the stop timeout, and stops it.
    ///
    /// - Returns: A task that ends when the plugin has stopped. Streams may delay this as long as they move.
    public func unload(_ plugin: PluginInstance) -> Task<Void, Never> {
        runtime.retire(plugin)
        return finishing(plugin)
    }

    /// Lets a plugin that gets no new calls finish, and stops it.
    private func finishing(_ plugin: PluginInstance) -> Task<Void, Never> {
        let id = ObjectIdentifier(plugin)
        let task = Task {
            await isIdle(plugin)
            await close(plugin)
            await drop(plugin)
            leaving[id] = nil
        }
        leaving[id] = task
        return task
    }

    /// Stops a plugin that was loaded but will not be used.
    public func discard(_ plugin: PluginInstance) async { await drop(plugin) }

    /// Stops a plugin that gets no calls.
    private func drop(_ plugin: PluginInstance) async {
        do throws(BridgeError) {
            try await perform(.stop, plugin, .object([:]), timeout: settings.stopTimeout)
        } catch {
            log.warning("the plugin \(plugin.name) did not stop: \(error.message)")
        }
        let supervisor = supervisor(of: plugin)
        runtime.remove(plugin)
        if let supervisor { await forget(supervisor) }
    }

    /// Waits until a plugin has no work or the stop timeout has passed.
    private func isIdle(_ plugin: PluginInstance) async {
        await withCheckedContinuation { continuation in
            runtime.whenIdle(plugin, within: settings.stopTimeout) { continuation.resume() }
        }
    }
}
