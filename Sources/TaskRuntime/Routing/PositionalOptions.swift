import BridgeJSON

/// Options without names.
enum PositionalOptions {
    /// So many names are listed where there are more elements.
    private static let maximumListed = 32

    /// The elements of an array as the task's options: an object by the names of its parameters, or the one element
    /// itself where it takes the whole; as they are, where nothing is known of its parameters.
    ///
    /// - Throws: `options.invalid`, where there are more elements than parameters, or not the one.
    static func named(
        _ options: [UInt8], for task: String, _ parameters: TaskParameters
    ) throws(BridgeError) -> [UInt8] {
        let names = parameters.names
        guard parameters.takesWhole || !names.isEmpty, let values = (try? JSON(parsing: options))?.arrayValue else {
            return options
        }
        guard !parameters.takesWhole else { return try whole(values, for: task) }
        guard values.count <= names.count else {
            throw BridgeError(
                JSONMismatch(
                    path: "$[\(names.count)]",
                    expected: "the end: \(task) takes \(names.prefix(maximumListed).joined(separator: ", "))",
                    got: "\(values.count) parameters"))
        }
        var object = JSONObject()
        for (name, value) in zip(names, values) { object[name] = value }
        return JSON.object(object).bytes
    }

    /// The one element, which is the options.
    private static func whole(_ values: [JSON], for task: String) throws(BridgeError) -> [UInt8] {
        guard values.count == 1 else {
            var error = BridgeError(
                JSONMismatch(path: "$", expected: "one parameter", got: "\(values.count) parameters"))
            error.message = "\(task) takes one parameter, not \(values.count)"
            throw error
        }
        return values[0].bytes
    }
}
