public import BridgeJSON
import DequeModule

// Plugins come, take each other's places, and go.
extension TaskRuntime {
    /// Takes in a plugin whose library has been loaded. Its tasks are not callable before ``open(_:)``.
    ///
    /// - Throws: `plugin.unavailable` where its name, or that of a task, is another one's.
    public func add(_ manifest: PluginManifest, path: String, host: any TaskHost) throws(BridgeError) -> PluginInstance
    {
        let instance = try candidate(manifest, path: path, host: host, inPlaceOf: nil)
        plugins.append(instance)
        return instance
    }

    /// A plugin that may take the place of another one. Nobody knows of it before ``replace(_:by:)``.
    ///
    /// - Throws: as ``add(_:path:host:)``; the names of the one before are free.
    public func candidate(
        _ manifest: PluginManifest, path: String, host: any TaskHost, inPlaceOf old: PluginInstance?
    ) throws(BridgeError) -> PluginInstance {
        let others = plugins.filter { $0 !== old }
        if let other = others.first(where: { $0.name == manifest.name }) {
            throw other.isLoadedAlready
        }
        try checkFree(manifest.tasks, others, besides: old)
        return PluginInstance(manifest, path: path, host: host, runtime: self)
    }

    private func checkFree(
        _ tasks: [TaskDescription], _ others: [PluginInstance], besides old: PluginInstance?
    ) throws(BridgeError) {
        for task in tasks {
            guard let taken = taker(of: task.name, among: others, besides: old) else { continue }
            throw BridgeError(.pluginUnavailable, "its task \(task.name) is provided by \(taken) already")
        }
    }

    /// While it was started, a client may have begun to provide a task of its, and its process may have ended.
    private func checkReady(_ plugin: PluginInstance, inPlaceOf old: PluginInstance?) throws(BridgeError) {
        try checkFree(plugin.manifest.tasks, plugins.filter { $0 !== old && $0 !== plugin }, besides: old)
        guard !plugin.pauses.contains(.noProcess) else {
            throw BridgeError(.pluginUnavailable, "its process ended before it could take calls")
        }
    }

    private func taker(of name: String, among others: [PluginInstance], besides old: PluginInstance?) -> String? {
        if let plugin = others.first(where: { $0.manifest.tasks.contains { $0.name == name } }) {
            return plugin.providerName
        }
        guard let provider = registry.find(name)?.provider, provider !== old else { return nil }
        return provider.providerName
    }

    /// The plugin takes calls from now on, and hears of the sessions that there are.
    ///
    /// - Throws: `plugin.unavailable` where it cannot any more; nothing has changed then.
    public func open(_ plugin: PluginInstance) throws(BridgeError) {
        try checkReady(plugin, inPlaceOf: nil)
        joinInterceptors(of: plugin)
        begin(plugin)
    }

    private func begin(_ plugin: PluginInstance) {
        plugin.state = .running
        for task in plugin.tasks { registry.insert(task) }
        forgetRights()
        announce(plugin)
    }

    /// From now on all new calls are the new plugin's, those too that the old one has not begun; what the old one works
    /// on it may finish, until ``close(_:)``.
    ///
    /// - Parameter new: a ``candidate(_:path:host:inPlaceOf:)`` in place of the old one, started.
    /// - Throws: `plugin.unavailable` where the new one cannot take calls any more; nothing has changed then.
    public func replace(_ old: PluginInstance, by new: PluginInstance) throws(BridgeError) {
        try checkReady(new, inPlaceOf: old)
        // Before they leave: the new ones are asked in the place of the old ones.
        joinInterceptors(of: new, inPlaceOf: old)
        leave(old)
        plugins.append(new)
        for task in new.tasks {
            if let before = old.tasks.first(where: { $0.name == task.name }) {
                task.statistics.takeOver(&before.statistics)
            }
        }
        begin(new)
        old.handWaiting(to: new)
        handUnbegun(of: old, to: new)
    }

    /// Calls that wait for an interceptor, or for a description, and keep no place in the old one's queue.
    private func handUnbegun(of old: PluginInstance, to new: PluginInstance) {
        defer { old.continueWork() }
        for call in calls.inFlight where call.state != .running {
            guard let task = call.task, task.provider === old, !task.isInternal else { continue }
            if let next = new.tasks.first(where: { $0.name == task.name }) {
                call.move(to: next)
            } else {
                old.endings.append(EndingCalls([call.handle], old.noSuccessor(of: task), wereRunning: false))
            }
        }
    }

    /// The plugin gets no new calls. What waits and what it works on it may finish, until ``close(_:)``.
    public func retire(_ plugin: PluginInstance) { leave(plugin) }

    private func leave(_ plugin: PluginInstance) {
        for task in plugin.tasks { registry.remove(task) }
        leaveInterceptors(of: plugin)
        plugin.state = .stopping
        plugins.removeAll { $0 === plugin }
        leavingPlugins.append(plugin)
        forgetRights()
    }

    /// The plugin takes calls no more: those in flight end with `plugin.unavailable`.
    public func close(_ plugin: PluginInstance) {
        for task in plugin.tasks { registry.remove(task) }
        leaveInterceptors(of: plugin)
        plugin.state = .stopping
        let error = BridgeError(.pluginUnavailable, "\(plugin.providerName) was stopped", isTransient: true)
        for call in calls.inFlight {
            guard let task = call.task, task.provider === plugin, !task.isInternal || task.isInterceptor else {
                continue
            }
            abort(call, error, reason: .shutdown)
        }
    }

    /// The plugin has stopped, or was not to be had: it is known no more.
    public func remove(_ plugin: PluginInstance) {
        let wasOpen = plugin.state != .loaded
        close(plugin)
        // What it was asked itself, too: nothing may point to what is let go.
        for call in calls.inFlight where call.task?.provider === plugin {
            abort(call, BridgeError(.pluginUnavailable, "\(plugin.providerName) was stopped"), reason: .shutdown)
        }
        plugin.state = .stopped
        plugin.host.end()
        plugins.removeAll { $0 === plugin }
        leavingPlugins.removeAll { $0 === plugin }
        // What has ended since another one took its place.
        for task in plugin.tasks { registry.find(task.name)?.statistics.takeOver(&task.statistics) }
        plugin.releaseHost()
        guard !plugins.contains(where: { $0.name == plugin.name }) else { return }
        retained.forget(ofPlugin: plugin.name)
        guard wasOpen else { return }
        publish("plugin.stopped", data: ["name": .string(plugin.name), "version": .string(plugin.manifest.version)])
    }

    /// Reports that a plugin works, and informs it of the sessions that opened before it did.
    func announce(_ plugin: PluginInstance) {
        publish("plugin.started", data: ["name": .string(plugin.name), "version": .string(plugin.manifest.version)])
        plugin.reportSessions()
    }
}
