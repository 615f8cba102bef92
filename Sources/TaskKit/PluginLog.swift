internal import CTaskPlugin

/// Writes to the daemon's log under the plugin's name, and the call's where it came from a call. Any thread.
public struct PluginLog: Sendable {
    let host: Host
    let call: trestle_call

    /// Something failed and a person should look at it.
    public func error(_ message: String) { host.log(UInt32(TRESTLE_LOG_ERROR), message, call) }
    /// Something is wrong, and work goes on.
    public func warning(_ message: String) { host.log(UInt32(TRESTLE_LOG_WARNING), message, call) }
    /// Normal, and worth knowing.
    public func notice(_ message: String) { host.log(UInt32(TRESTLE_LOG_NOTICE), message, call) }
    /// For who wants to follow what happens.
    public func info(_ message: String) { host.log(UInt32(TRESTLE_LOG_INFO), message, call) }
    /// For who looks for a fault.
    public func debug(_ message: String) { host.log(UInt32(TRESTLE_LOG_DEBUG), message, call) }
}
