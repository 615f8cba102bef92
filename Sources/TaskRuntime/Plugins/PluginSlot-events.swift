// The events that a plugin sends.
extension PluginSlot {
    /// Sends an event to the sessions that subscribed to its name, or to some sessions only; see
    /// ``TaskRuntime/publish(_:data:to:unasked:)``.
    ///
    /// - Parameters:
    ///   - data: checked to be one JSON value, unless the caller knows that it has been.
    /// - Returns: why it was not sent, as a sentence; nil: it was.
    public func publish(
        _ name: String, data: UnsafeRawBufferPointer, to sessions: [UInt64]?, unasked: Bool, isChecked: Bool = false
    ) -> String? {
        if !isChecked, let fault = runtime.fault(in: data) {
            return "an event's data are no JSON, it was not sent: \(fault)"
        }
        return runtime.publish(name, data: data, to: sessions, unasked: unasked).map { "an event is not sent: \($0)" }
    }
}
