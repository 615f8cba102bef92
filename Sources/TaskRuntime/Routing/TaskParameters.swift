import BridgeJSON

/// A task's options as parameters that have an order: what OpenRPC lists, and what parameters by position are called.
struct TaskParameters {
    /// The names, those of required parameters first: a call by position cannot leave out what stands before what it
    /// has. Within both halves the order is the schema's.
    let names: [String]
    /// How many of the names, from the first on, are of required parameters.
    let requiredCount: Int

    /// - Parameter schema: That of the task's options. Only the properties of an object are parameters.
    init(of schema: JSON?) {
        guard let properties = schema?["properties"]?.objectValue else {
            names = []
            requiredCount = 0
            return
        }
        let required = Set((schema?["required"]?.arrayValue ?? []).lazy.compactMap(\.stringValue))
        let first = properties.keys.filter { required.contains($0) }
        names = first + properties.keys.filter { !required.contains($0) }
        requiredCount = first.count
    }
}
