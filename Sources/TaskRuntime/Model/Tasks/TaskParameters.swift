import BridgeJSON

/// A task's options as ordered parameters, as OpenRPC lists them and calls by position pass them.
struct TaskParameters {
    /// The names, required parameters first: a call by position cannot omit a parameter before one that it passes.
    /// Within both groups the order is that of the schema.
    let names: [String]
    /// The number of required parameters at the beginning of ``names``.
    let requiredCount: Int
    /// Whether the options are neither an object nor an array, so that a single parameter is the whole of them. If they
    /// could be an array, `["x"]` would be ambiguous.
    let takesWhole: Bool

    /// - Parameter schema: The schema of the task's options. Only the properties of an object are named parameters.
    init(of schema: JSON?) {
        takesWhole = Self.isOfOneValue(schema)
        guard !takesWhole, let properties = schema?["properties"]?.objectValue else {
            names = []
            requiredCount = 0
            return
        }
        let required = Set((schema?["required"]?.arrayValue ?? []).lazy.compactMap(\.stringValue))
        let first = properties.keys.filter { required.contains($0) }
        names = first + properties.keys.filter { !required.contains($0) }
        requiredCount = first.count
    }

    /// Whether the schema specifies types and none of them is an object or array.
    private static func isOfOneValue(_ schema: JSON?) -> Bool {
        guard let type = schema?["type"] else { return false }
        let types = type.arrayValue ?? [type]
        return !types.isEmpty && !types.contains("object") && !types.contains("array")
    }
}
