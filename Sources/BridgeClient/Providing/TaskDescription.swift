public import BridgeJSON

/// The description of a task that a bridge provides. The daemon shows it to clients (`bridge.describe`), and refuses
/// options that do not fit before the provider gets the call.
public struct TaskDescription: Sendable {
    /// A summary of the task in one line; `nil` for none.
    public var summary: String?
    /// The JSON Schema of the options; `nil` for none.
    public var options: JSON?
    /// The JSON Schema of the result; `nil` for none.
    public var result: JSON?
    /// The JSON Schema of the intermediate results; `nil` for none.
    public var progress: JSON?

    /// Creates a description. Every part is optional. The schemas may have at most 64 KiB together.
    public init(summary: String? = nil, options: JSON? = nil, result: JSON? = nil, progress: JSON? = nil) {
        self.summary = summary
        self.options = options
        self.result = result
        self.progress = progress
    }

    var json: JSON {
        var object = JSONObject()
        object["summary"] = summary.map(JSON.string)
        object["options"] = options
        object["result"] = result
        object["progress"] = progress
        return .object(object)
    }
}
