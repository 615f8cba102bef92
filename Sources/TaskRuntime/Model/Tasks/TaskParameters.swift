import BridgeJSON

/// A task's options as parameters that have an order: what OpenRPC lists, and what parameters by position are called.
struct TaskParameters {
    /// The names, those of required parameters first: a call by position cannot leave out what stands before what it
    /// has. Within both halves the order is the schema's.
    let names: [String]
    /// How many of the names, from the first on, are of required parameters.
    let requiredCount: Int
    /// Whether the options are neither an object nor an array, so that one parameter is all of them. Where they may be
    /// an array, `["x"]` could mean both.
    let takesWhole: Bool

    /// - Parameter schema: That of the task's options. Only the properties of an object are parameters with names.
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

    /// Whether the schema names types, of which none has parts.
    private static func isOfOneValue(_ schema: JSON?) -> Bool {
        guard let type = schema?["type"] else { return false }
        let types = type.arrayValue ?? [type]
        return !types.isEmpty && !types.contains("object") && !types.contains("array")
    }
}
