internal import CTaskPlugin

/// Writes to the daemon's log under the plugin's name, and the call's name if it belongs to a call. Any thread.
public struct PluginLog: Sendable {
    let host: Host
    let call: trestle_call

    /// Logs a failure that requires a person's attention.
    public func error(_ message: String) { host.log(UInt32(TRESTLE_LOG_ERROR), message, call) }
    /// Logs a problem that does not stop the work.
    public func warning(_ message: String) { host.log(UInt32(TRESTLE_LOG_WARNING), message, call) }
    /// Logs a normal event that operators should notice.
    public func notice(_ message: String) { host.log(UInt32(TRESTLE_LOG_NOTICE), message, call) }
    /// Logs details of the normal operation.
    public func info(_ message: String) { host.log(UInt32(TRESTLE_LOG_INFO), message, call) }
    /// Logs details for fault finding.
    public func debug(_ message: String) { host.log(UInt32(TRESTLE_LOG_DEBUG), message, call) }
}
