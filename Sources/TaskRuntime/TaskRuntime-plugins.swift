public import BridgeJSON
import BridgeMessage
public import Logging

// What hosts of plugins, and those who load them, ask the runtime for.
extension TaskRuntime {
    /// The plugins, in the order in which they were added.
    public var plugins: [PluginInstance] { directory.all }
    /// Those that get no new calls and finish what they have.
    public var leavingPlugins: [PluginInstance] { directory.leaving }

    /// Takes in a plugin whose library has been loaded. Its tasks are not callable before ``open(_:)``.
    ///
    /// - Throws: `plugin.unavailable` where its name, or that of a task, is another one's.
    public func add(
        _ manifest: PluginManifest, path: String, host: any TaskHost
    ) throws(BridgeError) -> PluginInstance {
        try directory.add(manifest, path: path, host: host)
    }

    /// A plugin that may take the place of another one. No one knows of it before ``replace(_:by:)``.
    ///
    /// - Throws: as ``add(_:path:host:)``; the names of the one before are free.
    public func candidate(
        _ manifest: PluginManifest, path: String, host: any TaskHost, inPlaceOf old: PluginInstance?
    ) throws(BridgeError) -> PluginInstance {
        try directory.candidate(manifest, path: path, host: host, inPlaceOf: old)
    }

    /// The plugin takes calls from now on, and hears of the sessions that there are.
    ///
    /// - Throws: `plugin.unavailable` where it no longer can; nothing has changed then.
    public func open(_ plugin: PluginInstance) throws(BridgeError) { try directory.open(plugin) }

    /// From now on all new calls are the new plugin's, those too that the old one has not begun; what the old one works
    /// on it may finish, until ``close(_:_:)``.
    ///
    /// - Parameter new: a ``candidate(_:path:host:inPlaceOf:)`` in place of the old one, started.
    /// - Throws: `plugin.unavailable` where the new one can no longer take calls; nothing has changed then.
    public func replace(_ old: PluginInstance, by new: PluginInstance) throws(BridgeError) {
        try directory.replace(old, by: new)
    }

    /// The plugin gets no new calls. What waits and what it works on it may finish, until ``close(_:_:)``.
    public func retire(_ plugin: PluginInstance) { directory.retire(plugin) }

    /// Calls `done` once, when the plugin works on nothing or its time is over, which may be immediately. A plugin that
    /// gets no new calls may finish the streams of which it holds an end: their time counts from when bytes last moved.
    public func whenIdle(_ plugin: PluginInstance, within limit: Duration, _ done: @escaping () -> Void) {
        directory.whenIdle(plugin, within: limit, done)
    }

    /// The plugin no longer takes calls: those in flight end with `plugin.unavailable`, within a share of each turn.
    /// Its ends of streams are left immediately.
    ///
    /// - Parameter done: called once, when they have ended, which may be immediately.
    public func close(_ plugin: PluginInstance, _ done: @escaping () -> Void = {}) { directory.close(plugin, done) }

    /// The plugin has stopped, or was not to be had: it is no longer known. What is left of its calls ends immediately:
    /// after ``close(_:_:)`` that is what it was asked itself.
    public func remove(_ plugin: PluginInstance) { directory.remove(plugin) }

    /// A plugin says which tasks its interceptors are for, in place of what its manifest said; `answer` is what it
    /// answered when it was started or configured again.
    ///
    /// - Throws: `reply.invalid`, where that makes no sense; nothing has changed then.
    public func takeInterceptedTasks(_ answer: JSON, of plugin: PluginInstance) throws(BridgeError) {
        try directory.takeInterceptedTasks(answer, of: plugin)
    }

    // MARK: Calls

    /// Makes a call for a plugin. `completion` is called at its end, before this returns where it ends immediately.
    ///
    /// - Returns: the call's handle, for ``cancelPluginCall(_:)``.
    public func call(_ request: PluginCall, by plugin: PluginInstance) -> CallHandle {
        directory.call(request, by: plugin)
    }

    /// Makes a call about a stream, for a plugin in the daemon's process. `completion` is called at its end, before
    /// this returns where it ends immediately.
    ///
    /// - Returns: the call's handle, for ``cancelPluginCall(_:)``.
    public func call(_ request: PluginStreamCall, by plugin: PluginInstance) -> CallHandle {
        directory.call(request, by: plugin)
    }

    /// The process of a plugin is gone, or not waited for any longer: its ends of streams are left.
    public func leaveStreams(of holder: StreamHolder) { streams.leaveAll(of: holder) }

    /// Ends a call that a plugin made, where it is still in flight.
    public func cancelPluginCall(_ handle: CallHandle) { directory.cancel(handle) }

    /// Answers a call of a task that had nothing to answer yet. One that has ended meanwhile is passed over.
    public func answer(_ handle: CallHandle, _ result: Result<JSON, BridgeError>) { calls.answer(handle, result) }

    /// What a plugin in the daemon's process gets of a call whose work begins now, besides its options.
    public func terms(of call: Call) -> CallTerms {
        CallTerms(
            handle: call.handle, nanosecondsLeft: calls.nanosecondsLeft(to: call) ?? .max,
            callerRevision: call.callerRevision, takesProgress: call.takesProgress, isOneWay: call.isOneWay)
    }

    /// What is left to a call whose work begins now, in nanoseconds; nil: it has no deadline.
    public func nanosecondsLeft(to call: Call) -> UInt64? { calls.nanosecondsLeft(to: call) }

    /// A reply came that no caller waits for: it is counted, and reported at the debug level, or at another one.
    public func dropReply(
        _ what: @autoclosure () -> String, _ metadata: @autoclosure () -> Logger.Metadata,
        level: Logger.Level = .debug
    ) {
        calls.dropReply(what(), metadata(), level: level)
    }

    /// Where work is done that would keep the loop; nil: it is done immediately.
    public var lane: (any WorkLane)? { calls.lane }

    /// Why bytes are not one JSON value, as the end of a sentence; nil where they are.
    public func fault(in bytes: UnsafeRawBufferPointer) -> String? { calls.check.fault(in: bytes) }

    // MARK: The log

    /// Of a call that is in flight; empty where it has ended. Loop thread.
    public func logMetadata(of handle: CallHandle) -> Logger.Metadata { calls.call(handle)?.logMetadata ?? [:] }

    /// Decides about a line that a plugin writes for a call. It counts for the caller's user: a user cannot fill the
    /// log, and hide what it says of others, by calling a task that writes to it. Users whom the daemon trusts have no
    /// bound.
    ///
    /// - Returns: nil: the line is of no call, of none that is in flight, or of one of a trusted user.
    public func admitLogLine(of handle: CallHandle) -> LogAllowance.Verdict? { calls.admitLogLine(of: handle) }

    /// The sentence about the lines of a call's user that were left out.
    public func lostLogLines(_ count: Int, of handle: CallHandle) -> String { calls.lostLogLines(count, of: handle) }
}
