import BridgeJSON
import DequeModule

/// All plugins: how they are added, replaced and removed. Loop thread only.
final class PluginDirectory {
    /// The plugins, in the order in which they were added.
    private(set) var all: [PluginInstance] = [] { didSet { rights.setPublicEvents(publicEvents) } }
    /// The plugins that receive no new calls and finish their work.
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
        _ components: RuntimeComponents, _ suggestions: TaskSuggestions, _ calls: CallEngine, _ streams: StreamTable
    ) {
        self.calls = calls
        self.streams = streams
        self.suggestions = suggestions
        rights = components.rights
        tasks = components.tasks
        events = components.events
        steps = components.steps
        sessions = components.sessions
        idleWaits = IdleWaits(components)
    }

    /// Returns the number of the next plugin: numbers are never reused.
    func takeNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Returns the plugin with this number; `nil` if it was removed.
    func plugin(numbered number: UInt64) -> PluginInstance? { (all + leaving).first { $0.number == number } }

    /// Informs all plugins of a change of a session.
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

    // MARK: Adding and removing

    /// Adds a plugin whose library has been loaded. Its tasks cannot be called before ``open(_:)``.
    ///
    /// - Throws: `plugin.unavailable` if its name, or the name of a task, is in use.
    func add(_ manifest: PluginManifest, path: String, host: any TaskHost) throws(BridgeError) -> PluginInstance {
        let instance = try candidate(manifest, path: path, host: host, inPlaceOf: nil)
        all.append(instance)
        return instance
    }

    /// Creates a plugin that may replace another one. It is not visible before ``replace(_:by:)``.
    ///
    /// - Throws: As ``add(_:path:host:)``; the names of the old plugin count as free.
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

    /// Checks the plugin again: while it was starting, a client may have registered one of its tasks, and its process
    /// may have ended.
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

    /// Opens the plugin for calls and reports the existing sessions to it.
    ///
    /// - Throws: `plugin.unavailable` if it cannot take calls any more; then nothing has changed.
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

    /// Replaces a plugin: the new one receives all new calls, and those that the old one has not begun. The old one may
    /// finish the calls that it works on, until ``close(_:_:)``.
    ///
    /// - Parameter new: A started ``candidate(_:path:host:inPlaceOf:)`` for the place of the old one.
    /// - Throws: `plugin.unavailable` if the new one cannot take calls any more; then nothing has changed.
    func replace(_ old: PluginInstance, by new: PluginInstance) throws(BridgeError) {
        try checkReady(new, inPlaceOf: old)
        // Before the old ones leave: the new ones are asked in their positions.
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

    /// Stops new calls to the plugin. It may finish waiting and running calls, until ``close(_:_:)``.
    func retire(_ plugin: PluginInstance) { leave(plugin) }

    private func leave(_ plugin: PluginInstance) {
        for task in plugin.tasks { tasks.remove(task) }
        leaveInterceptors(of: plugin)
        plugin.state = .stopping
        all.removeAll { $0 === plugin }
        leaving.append(plugin)
        rights.forget()
    }

    /// Calls `done` once, when the plugin has no work or the time limit has passed, which may be immediately. A plugin
    /// that receives no new calls may finish the streams of which it holds an end: their time counts from when bytes
    /// last moved.
    func whenIdle(_ plugin: PluginInstance, within limit: Duration, _ done: @escaping () -> Void) {
        idleWaits.wait(for: plugin, within: limit, done)
    }

    /// Ends the waits whose time has passed. Called when the clock has woken the runtime.
    func expire() { idleWaits.look() }

    /// Closes the plugin: its calls in flight end with `plugin.unavailable`, within a share of each turn. It leaves its
    /// ends of streams immediately.
    ///
    /// - Parameter done: Called once, when these calls have ended, which may be immediately.
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

    /// Ends a call if it belongs to the plugin: a call that has not begun may have moved to the successor.
    private func end(_ call: Call, of plugin: PluginInstance) {
        guard call.task?.provider === plugin, calls.successor(of: call)?.provider === plugin else { return }
        let error = BridgeError(.pluginUnavailable, "\(plugin.providerName) was stopped", isTransient: true)
        calls.abort(call, error, reason: .shutdown)
    }

    /// Removes a plugin that has stopped or could not be used. Its remaining calls end immediately: after
    /// ``close(_:_:)`` these are the daemon's own requests to it.
    func remove(_ plugin: PluginInstance) {
        let wasOpen = plugin.state != .loaded
        shut(plugin)
        // No pointer to a released object may remain.
        if plugin.hasCallsInFlight { for call in calls.inFlight { end(call, of: plugin) } }
        plugin.state = .stopped
        plugin.host.end()
        streams.leaveAll(of: plugin.streamHolder)
        all.removeAll { $0 === plugin }
        leaving.removeAll { $0 === plugin }
        // Adds the counts of calls that have ended since another plugin replaced it.
        for task in plugin.tasks { tasks.find(task.name)?.statistics.takeOver(&task.statistics) }
        plugin.releaseHost()
        idleWaits.look()
        guard !all.contains(where: { $0.name == plugin.name }) else { return }
        events.forget(ofPlugin: plugin.name)
        guard wasOpen else { return }
        events.publish(
            "plugin.stopped", data: ["name": .string(plugin.name), "version": .string(plugin.manifest.version)],
            for: plugin.account)
    }

    /// Reports that a plugin takes calls, and informs it of the sessions that opened before.
    func announce(_ plugin: PluginInstance) {
        events.publish(
            "plugin.started", data: ["name": .string(plugin.name), "version": .string(plugin.manifest.version)],
            for: plugin.account)
        plugin.reportSessions()
    }
}
