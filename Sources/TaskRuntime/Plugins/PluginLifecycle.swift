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

    /// A plugin that may take the place of another one. No one knows of it before ``replace(_:by:)``.
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
    /// - Throws: `plugin.unavailable` where it no longer can; nothing has changed then.
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
    /// - Throws: `plugin.unavailable` where the new one can no longer take calls; nothing has changed then.
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
        for task in old.tasks { task.succession = old.succession(of: task, to: new) }
        begin(new)
        old.handWaiting(to: new)
        begin(
            CallSweep(calls) { [unowned self] call in
                if call.task?.provider === old { _ = successor(of: call) }
            }, for: old.account)
    }

    /// The task that a call goes on with which has not begun: that of the plugin that has taken the place of its own
    /// meanwhile, if one has. Calls that wait for an interceptor, for a description or for a check go on by this.
    ///
    /// - Returns: nil where the call has ended because its task is gone.
    func successor(of call: Call) -> TaskEntry? {
        while let task = call.task {
            guard call.state != .running, let succession = task.succession else { return task }
            switch succession {
            case .task(let next): call.move(to: next)
            case .none(let error):
                abort(call, error, reason: .shutdown)
                return nil
            }
        }
        return nil
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

    /// The plugin no longer takes calls: those in flight end with `plugin.unavailable`, within a share of each turn.
    ///
    /// - Parameter done: called once, when they have ended, which may be at once.
    public func close(_ plugin: PluginInstance, _ done: @escaping () -> Void = {}) {
        shut(plugin)
        guard plugin.hasCallsInFlight else { return done() }
        begin(
            CallSweep(calls, done: done) { [unowned self] call in
                if let task = call.task, !task.isInternal || task.isInterceptor { end(call, of: plugin) }
            }, for: plugin.account)
    }

    private func shut(_ plugin: PluginInstance) {
        for task in plugin.tasks { registry.remove(task) }
        leaveInterceptors(of: plugin)
        plugin.state = .stopping
    }

    /// Ends a call if it is the plugin's: one that has not begun may have become its successor's.
    private func end(_ call: Call, of plugin: PluginInstance) {
        guard call.task?.provider === plugin, successor(of: call)?.provider === plugin else { return }
        let error = BridgeError(.pluginUnavailable, "\(plugin.providerName) was stopped", isTransient: true)
        abort(call, error, reason: .shutdown)
    }

    /// The plugin has stopped, or was not to be had: it is no longer known. What is left of its calls ends at once:
    /// after ``close(_:_:)`` that is what it was asked itself.
    public func remove(_ plugin: PluginInstance) {
        let wasOpen = plugin.state != .loaded
        shut(plugin)
        // Nothing may point to what is released.
        if plugin.hasCallsInFlight { for call in calls.inFlight { end(call, of: plugin) } }
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
