// The events that a plugin sends.
extension PluginInstance {
    /// Sends an event to the sessions that subscribed to its name, or to some sessions only; see
    /// ``TaskRuntime/publish(_:data:to:direct:)``.
    ///
    /// - Parameters:
    ///   - data: checked to be one JSON value, unless the caller knows that it has been.
    /// - Returns: why it was not sent, as a sentence; nil: it was.
    public func publish(
        _ name: String, data: UnsafeRawBufferPointer, to sessions: [UInt64]?, direct: Bool, isChecked: Bool = false
    ) -> String? {
        if !isChecked, let fault = runtime.fault(in: data) {
            return "an event's data are no JSON, it was not sent: \(fault)"
        }
        return runtime.publish(name, data: data, to: sessions, direct: direct).map { "an event is not sent: \($0)" }
    }
}
