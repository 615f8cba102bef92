import BridgeJSON
import BridgeMessage

/// An event that a plugin sends. Valid as long as its data are.
public struct OutgoingEvent {
    let name: String
    /// JSON.
    let data: UnsafeRawBufferPointer
    /// The sessions that receive it; `nil` for all subscribers.
    let sessions: [UInt64]?
    /// Whether those sessions receive it even if they are not subscribed.
    let isDirect: Bool
    /// Whether it is retained for later subscribers.
    let isRetained: Bool
    /// Whether the retained event of this name is removed instead of sending an event.
    let isForgotten: Bool

    /// Creates an event.
    public init(
        _ name: String, data: UnsafeRawBufferPointer, to sessions: [UInt64]?, isDirect: Bool = false,
        isRetained: Bool = false, isForgotten: Bool = false
    ) {
        (self.name, self.data, self.sessions) = (name, data, sessions)
        (self.isDirect, self.isRetained, self.isForgotten) = (isDirect, isRetained, isForgotten)
    }
}

// The events that a plugin sends.
extension PluginInstance {
    /// Sends an event to the sessions that subscribed to its name, or to some sessions only; see
    /// ``EventBus/publish(_:data:to:direct:isRetained:for:)``.
    ///
    /// - Parameter isChecked: Whether its data are known to be one JSON value.
    /// - Returns: Why it was not sent, as a sentence; `nil` if it was sent.
    public func publish(_ event: OutgoingEvent, isChecked: Bool = false) -> String? {
        let maximum = calls.quotas.limits.messageBytes
        guard event.data.count <= maximum else {
            return "an event is not sent: its data have \(event.data.count) bytes, and a message has at most \(maximum)"
        }
        if !isChecked, let fault = calls.check.fault(in: event.data) {
            return "an event was not sent, its data are not valid JSON: \(fault)"
        }
        if event.isRetained || event.isForgotten {
            if let refusal = retain(event) { return "an event is not sent: \(refusal)" }
            if event.isForgotten { return nil }
        }
        return directory.events.publish(
            event.name, data: event.data, to: event.sessions, direct: event.isDirect, isRetained: event.isRetained,
            for: account
        ).map { "an event is not sent: \($0)" }
    }

    /// Retains an event for later subscribers, or removes the retained one. Returns why it cannot; `nil` on success.
    private func retain(_ event: OutgoingEvent) -> String? {
        if let fault = EventBus.fault(inName: event.name) { return fault }
        guard event.sessions == nil else { return "\(event.name) is retained, and so cannot be for some sessions only" }
        guard !event.isForgotten else {
            directory.events.forget(event.name)
            return nil
        }
        do throws(BridgeError) {
            try directory.events.retain(event.name, Array(event.data), ofPlugin: name)
            return nil
        } catch {
            return error.message
        }
    }
}
