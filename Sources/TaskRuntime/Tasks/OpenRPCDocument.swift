import BridgeJSON

/// Tasks as an OpenRPC document, for JSON-RPC clients: https://spec.open-rpc.org, version 1.3.
///
/// It is assembled in steps, because the schemas of tasks are parsed and written again.
struct OpenRPCDocument {
    /// The maximum number of tasks that are examined in one step. Those that the caller may not see count as well.
    private static let stepEntries = 16
    /// The length at which a step ends, after the current task. A task of 64 KiB takes about a millisecond.
    private static let stepBytes = 4 << 10

    private let maximumBytes: Int
    private var text: [UInt8]
    private var isFirst = true
    private var lastName = ""

    /// - Parameters:
    ///   - version: The daemon's version.
    ///   - maximumBytes: The maximum length of the document.
    init(version: String, maximumBytes: Int) {
        self.maximumBytes = maximumBytes
        let head: JSON = ["openrpc": "1.3.2", "info": ["title": "Trestle", "version": .string(version)]]
        text = head.bytes
        text.removeLast()
        text += #","methods":["#.utf8
    }

    private var isTooLong: Bool { text.count > maximumBytes }

    /// Adds the next tasks.
    ///
    /// - Parameters:
    ///   - isShown: Returns whether the caller may see a task.
    ///   - method: Returns a task's text.
    /// - Returns: False if all tasks have been added, or if the document is too long.
    mutating func step(
        _ registry: TaskRegistry, isShown: (TaskEntry) -> Bool, method: (TaskEntry) -> [UInt8]
    ) -> Bool {
        var lookedAt = 0
        let start = text.count
        for task in registry.after(lastName) {
            guard lookedAt < Self.stepEntries, text.count - start < Self.stepBytes else { return !isTooLong }
            lookedAt += 1
            lastName = task.name
            guard isShown(task) else { continue }
            if !isFirst { text.append(UInt8(ascii: ",")) }
            isFirst = false
            text += method(task)
        }
        return false
    }

    /// Returns the complete document.
    ///
    /// - Throws: `result.too_large` if the document is too long.
    consuming func finished() throws(BridgeError) -> [UInt8] {
        guard !isTooLong else {
            throw BridgeError(
                .resultTooLarge,
                "the document of all tasks is longer than the \(maximumBytes) bytes that a message may have; "
                    + "bridge.describe returns the same in pages: call it with the cursor of the previous page")
        }
        text += "]}".utf8
        return text
    }

    /// Returns a task as a method.
    static func method(_ task: TaskEntry, _ summary: String, _ schemas: SchemaTexts) -> [UInt8] {
        // `try?`: the stored text was JSON.
        let options = schemas.options.flatMap { try? JSON(parsing: $0) }
        var text = ObjectText()
        text.add("name", .string(task.name))
        text.add("summary", .string(summary))
        let parameters = TaskParameters(of: options)
        text.add("params", .array(Self.list(parameters, options)))
        // The task does not define the parameter's name, so a call by name would pass an object as the options.
        if parameters.takesWhole { text.add("paramStructure", "by-position") }
        var result = ObjectText()
        result.add("name", "result")
        result.add("schema", text: schemas.result ?? Array("true".utf8))
        text.add("result", text: result.finished())
        if let plugin = task.provider.queue { text.add("tags", [["name": .string(plugin.name)]]) }
        // OpenRPC has no member for options that are neither known members of an object nor one parameter.
        if options?["properties"] == nil, !parameters.takesWhole { text.add("x-options", options ?? true) }
        if let progress = schemas.progress { text.add("x-progress", text: progress) }
        return text.finished()
    }

    /// The name of the parameter that is the whole options.
    private static let wholeName: JSON = "value"

    private static func list(_ parameters: TaskParameters, _ options: JSON?) -> [JSON] {
        guard !parameters.takesWhole else {
            return [["name": wholeName, "schema": options ?? true, "required": true]]
        }
        return parameters.names.enumerated().map { index, name in
            let schema = options?["properties"]?[name] ?? true
            var parameter: JSONObject = ["name": .string(name), "schema": schema]
            if let summary = schema["description"] { parameter["summary"] = summary }
            if index < parameters.requiredCount { parameter["required"] = true }
            return .object(parameter)
        }
    }
}
