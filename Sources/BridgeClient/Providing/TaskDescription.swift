public import BridgeJSON

/// What is to be known of a task that a bridge provides. The daemon shows it to who asks (`bridge.describe`), and
/// refuses options that do not fit before the provider gets the call.
public struct TaskDescription: Sendable {
    /// What the task does, in one line.
    public var summary: String?
    /// The JSON Schema of its options.
    public var options: JSON?
    /// The JSON Schema of its result.
    public var result: JSON?
    /// The JSON Schema of its intermediate results.
    public var progress: JSON?

    /// All of it may be left out. The schemas have at most 64 KiB together.
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
