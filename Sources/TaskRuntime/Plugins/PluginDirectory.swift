import BridgeJSON
import DequeModule

/// The plugins that there are: how they come, take each other's places, and go. Loop thread only.
final class PluginDirectory {
    /// The plugins, in the order in which they were added.
    private(set) var all: [PluginInstance] = [] { didSet { rights.setPublicEvents(publicEvents) } }
    /// Those that get no new calls and finish what they have.
    private(set) var leaving: [PluginInstance] = []
    private var lastNumber: UInt64 = 0
    let calls: CallEngine
    let rights: Rights
    let tasks: TaskRegistry
    let events: EventBus
    let steps: StepScheduler
    let sessions: SessionStore
    let suggestions: TaskSuggestions
    let streams: StreamTable
    private let idleWaits: IdleWaits

    init(
        _ rooms: RuntimeRooms, _ suggestions: TaskSuggestions, _ calls: CallEngine, _ streams: StreamTable
    ) {
        self.calls = calls
        self.streams = streams
        self.suggestions = suggestions
        rights = rooms.rights
        tasks = rooms.tasks
        events = rooms.events
        steps = rooms.steps
        sessions = rooms.sessions
        idleWaits = IdleWaits(rooms)
    }

    /// The number of the next plugin: none bore it before.
    func takeNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// The plugin of this number; nil: it has gone.
    func plugin(numbered number: UInt64) -> PluginInstance? { (all + leaving).first { $0.number == number } }

    /// Informs all plugins of what happens to a session.
    func notify(_ change: SessionChange, _ session: Session) {
        for plugin in all { plugin.notify(change, session) }
    }

    /// Whether a plugin sends events of this name.
    func sends(_ event: String) -> Bool {
        all.contains { $0.manifest.events.contains { $0.name.isExactly(event) } }
    }

    private var publicEvents: Set<ExactText> {
        Set(all.flatMap { $0.manifest.events.filter(\.isPublic).map { ExactText($0.name) } })
    }

    // MARK: Coming and going

    /// Takes in a plugin whose library has been loaded. Its tasks are not callable before ``open(_:)``.
    ///
    /// - Throws: `plugin.unavailable` where its name, or that of a task, is another one's.
    func add(_ manifest: PluginManifest, path: String, host: any TaskHost) throws(BridgeError) -> PluginInstance {
        let instance = try candidate(manifest, path: path, host: host, inPlaceOf: nil)
        all.append(instance)
        return instance
    }

    /// A plugin that may take the place of another one. No one knows of it before ``replace(_:by:)``.
    ///
    /// - Throws: as ``add(_:path:host:)``; the names of the one before are free.
    func candidate(
        _ manifest: PluginManifest, path: String, host: any TaskHost, inPlaceOf old: PluginInstance?
    ) throws(BridgeError) -> PluginInstance {
        let others = all.filter { $0 !== old }
        if let other = others.first(where: { $0.name == manifest.name }) {
            throw other.isLoadedAlready
        }
        try checkFree(manifest.tasks, others, besides: old)
        return PluginInstance(manifest, path: path, host: host, directory: self)
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
        try checkFree(plugin.manifest.tasks, all.filter { $0 !== old && $0 !== plugin }, besides: old)
        guard !plugin.pauses.contains(.noProcess) else {
            throw BridgeError(.pluginUnavailable, "its process ended before it could take calls")
        }
    }

    private func taker(of name: String, among others: [PluginInstance], besides old: PluginInstance?) -> String? {
        if let plugin = others.first(where: { $0.manifest.tasks.contains { $0.name == name } }) {
            return plugin.providerName
        }
        guard let provider = tasks.find(name)?.provider, provider !== old else { return nil }
        return provider.providerName
    }

    /// The plugin takes calls from now on, and hears of the sessions that there are.
    ///
    /// - Throws: `plugin.unavailable` where it no longer can; nothing has changed then.
    func open(_ plugin: PluginInstance) throws(BridgeError) {
        try checkReady(plugin, inPlaceOf: nil)
        joinInterceptors(of: plugin)
        begin(plugin)
    }

    private func begin(_ plugin: PluginInstance) {
        plugin.state = .running
        for task in plugin.tasks { tasks.insert(task) }
        rights.forget()
        plugin.updateMarks()
        announce(plugin)
    }

    /// From now on all new calls are the new plugin's, those too that the old one has not begun; what the old one works
    /// on it may finish, until ``close(_:)``.
    ///
    /// - Parameter new: a ``candidate(_:path:host:inPlaceOf:)`` in place of the old one, started.
    /// - Throws: `plugin.unavailable` where the new one can no longer take calls; nothing has changed then.
    func replace(_ old: PluginInstance, by new: PluginInstance) throws(BridgeError) {
        try checkReady(new, inPlaceOf: old)
        // Before they leave: the new ones are asked in the place of the old ones.
        joinInterceptors(of: new, inPlaceOf: old)
        leave(old)
        all.append(new)
        for task in new.tasks {
            if let before = old.tasks.first(where: { $0.name == task.name }) {
                task.statistics.takeOver(&before.statistics)
            }
        }
        for task in old.tasks { task.succession = old.succession(of: task, to: new) }
        begin(new)
        old.handWaiting(to: new)
        steps.begin(
            CallSweep(calls) { [unowned self] call in
                if call.task?.provider === old { _ = calls.successor(of: call) }
            }, for: old.account)
    }

    /// The plugin gets no new calls. What waits and what it works on it may finish, until ``close(_:)``.
    func retire(_ plugin: PluginInstance) { leave(plugin) }

    private func leave(_ plugin: PluginInstance) {
        for task in plugin.tasks { tasks.remove(task) }
        leaveInterceptors(of: plugin)
        plugin.state = .stopping
        all.removeAll { $0 === plugin }
        leaving.append(plugin)
        rights.forget()
    }

    /// Calls `done` once, when the plugin works on nothing or its time is over, which may be immediately. A plugin that
    /// gets no new calls may finish the streams of which it holds an end: their time counts from when bytes last moved.
    func whenIdle(_ plugin: PluginInstance, within limit: Duration, _ done: @escaping () -> Void) {
        idleWaits.wait(for: plugin, within: limit, done)
    }

    /// The clock woke the runtime.
    func expire() { idleWaits.look() }

    /// The plugin no longer takes calls: those in flight end with `plugin.unavailable`, within a share of each turn.
    /// Its ends of streams are left immediately.
    ///
    /// - Parameter done: called once, when they have ended, which may be immediately.
    func close(_ plugin: PluginInstance, _ done: @escaping () -> Void = {}) {
        shut(plugin)
        for holder in plugin.streamHolders { streams.leaveAll(of: holder) }
        guard plugin.hasCallsInFlight else { return done() }
        steps.begin(
            CallSweep(calls, done: done) { [unowned self] call in
                if let task = call.task, !task.isInternal || task.isInterceptor { end(call, of: plugin) }
            }, for: plugin.account)
    }

    private func shut(_ plugin: PluginInstance) {
        for task in plugin.tasks { tasks.remove(task) }
        leaveInterceptors(of: plugin)
        plugin.state = .stopping
    }

    /// Ends a call if it is the plugin's: one that has not begun may have become its successor's.
    private func end(_ call: Call, of plugin: PluginInstance) {
        guard call.task?.provider === plugin, calls.successor(of: call)?.provider === plugin else { return }
        let error = BridgeError(.pluginUnavailable, "\(plugin.providerName) was stopped", isTransient: true)
        calls.abort(call, error, reason: .shutdown)
    }

    /// The plugin has stopped, or was not to be had: it is no longer known. What is left of its calls ends immediately:
    /// after ``close(_:_:)`` that is what it was asked itself.
    func remove(_ plugin: PluginInstance) {
        let wasOpen = plugin.state != .loaded
        shut(plugin)
        // Nothing may point to what is released.
        if plugin.hasCallsInFlight { for call in calls.inFlight { end(call, of: plugin) } }
        plugin.state = .stopped
        plugin.host.end()
        streams.leaveAll(of: plugin.streamHolder)
        all.removeAll { $0 === plugin }
        leaving.removeAll { $0 === plugin }
        // What has ended since another one took its place.
        for task in plugin.tasks { tasks.find(task.name)?.statistics.takeOver(&task.statistics) }
        plugin.releaseHost()
        idleWaits.look()
        guard !all.contains(where: { $0.name == plugin.name }) else { return }
        events.forget(ofPlugin: plugin.name)
        guard wasOpen else { return }
        events.publish(
            "plugin.stopped", data: ["name": .string(plugin.name), "version": .string(plugin.manifest.version)])
    }

    /// Reports that a plugin works, and informs it of the sessions that opened before it did.
    func announce(_ plugin: PluginInstance) {
        events.publish(
            "plugin.started", data: ["name": .string(plugin.name), "version": .string(plugin.manifest.version)])
        plugin.reportSessions()
    }
}
