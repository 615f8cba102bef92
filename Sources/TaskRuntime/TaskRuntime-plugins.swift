public import BridgeJSON
import BridgeMessage
public import Logging

// The interface of the runtime for the hosts and the loader of plugins.
extension TaskRuntime {
    /// The plugins, in the order in which they were added.
    public var plugins: [PluginInstance] { directory.all }
    /// The plugins that get no new calls and finish the calls that they have.
    public var leavingPlugins: [PluginInstance] { directory.leaving }

    /// Adds a plugin whose library has been loaded. Its tasks are not callable before ``open(_:)``.
    ///
    /// - Throws: `plugin.unavailable` if its name, or the name of one of its tasks, is already in use.
    public func add(
        _ manifest: PluginManifest, path: String, host: any TaskHost
    ) throws(BridgeError) -> PluginInstance {
        try directory.add(manifest, path: path, host: host)
    }

    /// Creates a plugin that may replace another one. It is not listed before ``replace(_:by:)``.
    ///
    /// - Throws: As ``add(_:path:host:)``; it may use the names of the old plugin.
    public func candidate(
        _ manifest: PluginManifest, path: String, host: any TaskHost, inPlaceOf old: PluginInstance?
    ) throws(BridgeError) -> PluginInstance {
        try directory.candidate(manifest, path: path, host: host, inPlaceOf: old)
    }

    /// Opens the plugin for calls and notifies it of the existing sessions.
    ///
    /// - Throws: `plugin.unavailable` if it can no longer take calls; nothing has changed in this case.
    public func open(_ plugin: PluginInstance) throws(BridgeError) { try directory.open(plugin) }

    /// Gives all new calls to the new plugin, and the calls that the old one has not begun. The old plugin may finish
    /// the calls that it works on, until ``close(_:_:)``.
    ///
    /// - Parameter new: A started ``candidate(_:path:host:inPlaceOf:)`` that replaces the old plugin.
    /// - Throws: `plugin.unavailable` if the new plugin can no longer take calls; nothing has changed in this case.
    public func replace(_ old: PluginInstance, by new: PluginInstance) throws(BridgeError) {
        try directory.replace(old, by: new)
    }

    /// Sends the plugin no new calls. It may finish waiting calls and the calls that it works on, until
    /// ``close(_:_:)``.
    public func retire(_ plugin: PluginInstance) { directory.retire(plugin) }

    /// Calls `done` once, when the plugin has no work or the limit has passed, which may be immediately. A plugin that
    /// gets no new calls may finish the streams of which it holds an end. Their limit counts from the last movement of
    /// bytes.
    public func whenIdle(_ plugin: PluginInstance, within limit: Duration, _ done: @escaping () -> Void) {
        directory.whenIdle(plugin, within: limit, done)
    }

    /// Closes the plugin for calls. Calls in flight end with `plugin.unavailable`, within a share of each turn. The
    /// plugin's ends of streams are closed immediately.
    ///
    /// - Parameter done: Called once, when the calls have ended, which may be immediately.
    public func close(_ plugin: PluginInstance, _ done: @escaping () -> Void = {}) { directory.close(plugin, done) }

    /// Removes a plugin that has stopped or could not be started. Its remaining calls end immediately; after
    /// ``close(_:_:)`` these are the daemon's own requests to the plugin.
    public func remove(_ plugin: PluginInstance) { directory.remove(plugin) }

    /// Replaces the interceptors' task patterns in the plugin's manifest with those in `answer`. `answer` is the
    /// plugin's answer to its start or to a new configuration.
    ///
    /// - Throws: `reply.invalid` if `answer` is invalid; nothing has changed in this case.
    public func takeInterceptedTasks(_ answer: JSON, of plugin: PluginInstance) throws(BridgeError) {
        try directory.takeInterceptedTasks(answer, of: plugin)
    }

    // MARK: Calls

    /// Makes a call for a plugin. `completion` is called at its end. If the call ends immediately, this happens before
    /// the function returns.
    ///
    /// - Returns: The call's handle, for ``cancelPluginCall(_:)``.
    public func call(_ request: PluginCall, by plugin: PluginInstance) -> CallHandle {
        directory.call(request, by: plugin)
    }

    /// Makes a call about a stream, for a plugin in the daemon's process. `completion` is called at its end. If the
    /// call ends immediately, this happens before the function returns.
    ///
    /// - Returns: The call's handle, for ``cancelPluginCall(_:)``.
    public func call(_ request: PluginStreamCall, by plugin: PluginInstance) -> CallHandle {
        directory.call(request, by: plugin)
    }

    /// Closes the stream ends of a plugin process that has ended or that the daemon no longer waits for.
    public func leaveStreams(of holder: StreamHolder) { streams.leaveAll(of: holder) }

    /// Ends a call that a plugin made, if it is still in flight.
    public func cancelPluginCall(_ handle: CallHandle) { directory.cancel(handle) }

    /// Answers a call whose task answers later. A call that has ended meanwhile is ignored.
    public func answer(_ handle: CallHandle, _ result: Result<JSON, BridgeError>) { calls.answer(handle, result) }

    /// Returns the data of a call whose work begins now, besides its options, for a plugin in the daemon's process.
    public func terms(of call: Call) -> CallTerms {
        CallTerms(
            handle: call.handle, nanosecondsLeft: calls.nanosecondsLeft(to: call) ?? .max,
            callerRevision: call.callerRevision, takesProgress: call.takesProgress, isOneWay: call.isOneWay)
    }

    /// Returns the time left to a call whose work begins now, in nanoseconds; `nil` if it has no deadline.
    public func nanosecondsLeft(to call: Call) -> UInt64? { calls.nanosecondsLeft(to: call) }

    /// Counts a reply that no caller waits for, and logs it at `level`.
    public func dropReply(
        _ what: @autoclosure () -> String, _ metadata: @autoclosure () -> Logger.Metadata,
        level: Logger.Level = .debug
    ) {
        calls.dropReply(what(), metadata(), level: level)
    }

    /// The lane for work that would occupy the loop; `nil` if such work runs immediately on the loop.
    public var lane: (any WorkLane)? { calls.lane }

    /// Returns why the bytes are not one JSON value, as the end of a sentence; `nil` if they are.
    public func fault(in bytes: UnsafeRawBufferPointer) -> String? { calls.check.fault(in: bytes) }

    // MARK: The log

    /// Returns the log metadata of a call in flight; empty if it has ended. Loop thread.
    public func logMetadata(of handle: CallHandle) -> Logger.Metadata { calls.call(handle)?.logMetadata ?? [:] }

    /// Decides about a log line that a plugin writes for a call. The line counts for the caller's user: a user cannot
    /// fill the log, and hide lines about others, by calling a task that writes to it. Trusted users have no limit.
    ///
    /// - Returns: `nil` if the line belongs to no call in flight, or to a call of a trusted user.
    public func admitLogLine(of handle: CallHandle) -> LogAllowance.Verdict? { calls.admitLogLine(of: handle) }

    /// Returns the sentence that reports the omitted lines of a call's user.
    public func lostLogLines(_ count: Int, of handle: CallHandle) -> String { calls.lostLogLines(count, of: handle) }
}
