import ArgumentParser
import BridgeJSON

/// The selection of traffic.
struct TrafficChoice: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Only calls of this task; with * at the end, of all tasks with this prefix.", valueName: "name"))
    var task: String?

    @Option(help: ArgumentHelp("Only the calls of this session, and the events that it receives.", valueName: "number"))
    var session: UInt64?

    @Option(
        help: ArgumentHelp(
            "Only the calls of this user's sessions, and the events that they receive.", valueName: "number"))
    var uid: UInt32?

    /// The options of `bridge.monitor`.
    var options: JSON { options(payloadBytes: nil) }

    /// Returns the options of `bridge.monitor`.
    ///
    /// - Parameter payloadBytes: The maximum shown size of a payload in bytes; `nil` for the default.
    func options(payloadBytes: Int?) -> JSON {
        var options: JSONObject = [:]
        options["task"] = task.map(JSON.string)
        options["session"] = session.map { .number(JSONNumber($0)) }
        options["uid"] = uid.map { .number(JSONNumber($0)) }
        options["payloadBytes"] = payloadBytes.map { .number(JSONNumber($0)) }
        return .object(options)
    }
}
