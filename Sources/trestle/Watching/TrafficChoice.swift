import ArgumentParser
import BridgeJSON

/// Which traffic is watched.
struct TrafficChoice: ParsableArguments {
    @Option(help: ArgumentHelp("Only calls of this task; with * at its end, of all that begin so.", valueName: "name"))
    var task: String?

    @Option(help: ArgumentHelp("Only what this session calls or hears.", valueName: "number"))
    var session: UInt64?

    @Option(help: ArgumentHelp("Only what this user's sessions call or hear.", valueName: "number"))
    var uid: UInt32?

    /// The options of `bridge.monitor`.
    var options: JSON { options(payloadBytes: nil) }

    /// The options of `bridge.monitor`.
    ///
    /// - Parameter payloadBytes: as much as is shown of a payload; nil: as much as usual.
    func options(payloadBytes: Int?) -> JSON {
        var options: JSONObject = [:]
        options["task"] = task.map(JSON.string)
        options["session"] = session.map { .number(JSONNumber($0)) }
        options["uid"] = uid.map { .number(JSONNumber($0)) }
        options["payloadBytes"] = payloadBytes.map { .number(JSONNumber($0)) }
        return .object(options)
    }
}
