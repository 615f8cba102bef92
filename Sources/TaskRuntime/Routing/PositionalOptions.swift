import BridgeJSON

/// Converts positional parameters into named options.
enum PositionalOptions {
    /// The maximum number of names that the error about too many elements lists.
    private static let maximumListed = 32

    /// Returns the task's options for the elements of an array. These are an object with the names of the parameters,
    /// or the single element itself if the parameter is the whole options. If the parameters are unknown, the options
    /// are returned unchanged.
    ///
    /// - Throws: `options.invalid` if there are more elements than parameters, or not exactly one for the whole
    ///   options.
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

    /// Returns the single element as the options.
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
