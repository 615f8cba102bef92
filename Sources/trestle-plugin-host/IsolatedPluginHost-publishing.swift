import BridgeJSON
import BridgeMessage
import CTaskPlugin
import PluginInterface

// The events that the plugin sends.
extension IsolatedPluginHost {
    func publish(_ event: PluginEvent) {
        let warning = UInt32(TRESTLE_LOG_WARNING)
        guard event.data.count <= messageBytes else {
            return logged(
                warning, "an event has \(event.data.count) bytes, more than a message may: it was not sent", 0)
        }
        guard let data = value(of: event.data) else {
            return logged(warning, "an event was not sent, its data are not valid JSON", 0)
        }
        var options: JSONObject = ["event": .string(event.name), "data": data]
        if let sessions = event.sessions { options["sessions"] = .array(sessions.map { .number(JSONNumber($0)) }) }
        if event.isDirect { options["direct"] = true }
        if event.isRetained { options["retain"] = true }
        if event.isForgotten { options["forget"] = true }
        notify("plugin.publish", .object(options))
    }

    /// Returns the value of an event's data; `nil` if they are not valid JSON. They are two levels deep in the message.
    private func value(of data: [UInt8]) -> JSON? {
        if data.isEmpty { return .null }
        return data.withUnsafeBytes { check.fault(in: $0, levelsAround: 2) == nil ? try? JSON(parsing: $0) : nil }
    }
}
