public import BridgeJSON
import EventLoop
import LaunchWorkers
import Logging
public import TaskRuntime

// Plugins that come, go and take each other's place while the daemon serves.
extension PluginLoader {
    /// Starts a plugin that was loaded after the launch, does immediately what it would have done at launch, and opens
    /// its tasks to calls.
    ///
    /// - Throws: ``BridgeError`` with a sentence that says why it does not start; it is still to be refused.
    public func startLate(_ plugin: PluginInstance) async throws(BridgeError) {
        try await prepare(plugin)
        try runtime.open(plugin)
        try await launchLate(plugin, .afterListening)
    }

    /// Puts a plugin in the place of another one: the new one is started first, and only then takes over. The one
    /// before finishes what it has, for as long as the stop timeout says, and streams as long as they move; this does
    /// not wait for it.
    ///
    /// What the old one knows of sessions goes to the new one, and new calls wait while it does.
    ///
    /// - Parameter new: was loaded in the place of the old one, and configured.
    /// - Throws: ``BridgeError`` with a sentence that says why the new one is no good; the old one goes on then, and
    ///   the new one has been stopped.
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
        // What is left of it are questions to its interceptors: they are worked on.
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

    /// Most plugins know nothing of sessions. One that does is asked when it works on nothing, and it does not begin
    /// anything before the new one has been sent. One that does not answer is not worth keeping for what it knows.
    private func handSessions(of old: PluginInstance, to new: PluginInstance) async throws(BridgeError) {
        guard old.state == .running, await !knownSessions(of: old).isEmpty else { return }
        old.pause(.handover)
        await isIdle(old)
        for known in await knownSessions(of: old) { try await perform(.restoreSessions, new, known) }
    }

    /// What a plugin knows of sessions, in as many parts as it takes; empty: nothing, or it does not say.
    private func knownSessions(of plugin: PluginInstance) async -> [JSON] {
        var kept = KeptSessions()
        await saveSessions(runtime.sessionNumbers, by: plugin, in: &kept)
        for lost in kept.lost {
            log.error(
                "what the plugin \(plugin.name) knows of a session does not go to its new version: \(lost.reason)",
                metadata: runtime.session(lost.session)?.logMetadata)
        }
        return kept.states.map(\.state)
    }

    /// Takes a plugin's tasks away, lets it finish what it has for as long as the stop timeout says, and stops it.
    ///
    /// - Returns: what ends when the plugin has stopped: its users' streams may keep it as long as they move.
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

    /// A plugin that was loaded is not used after all.
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

    /// Waits until a plugin works on nothing, or the time is over that it has to stop.
    private func isIdle(_ plugin: PluginInstance) async {
        await withCheckedContinuation { continuation in
            runtime.whenIdle(plugin, within: settings.stopTimeout) { continuation.resume() }
        }
    }
}
