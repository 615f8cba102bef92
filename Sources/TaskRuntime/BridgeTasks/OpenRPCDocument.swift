import BridgeJSON

/// Tasks as an OpenRPC document, for those who come by JSON-RPC: https://spec.open-rpc.org, version 1.3.
struct OpenRPCDocument {
    private let tasks: [DescribedTask]
    private let version: String

    /// - Parameter version: the daemon's.
    init(_ tasks: [DescribedTask], version: String) { (self.tasks, self.version) = (tasks, version) }

    var json: JSON {
        [
            "openrpc": "1.3.2",
            "info": ["title": "Trestle", "version": .string(version)],
            "methods": .array(tasks.map(method)),
        ]
    }

    private func method(_ described: DescribedTask) -> JSON {
        let options = described.schemas.options
        var method: JSONObject = [
            "name": .string(described.task.name), "summary": .string(described.task.summary),
            "params": .array(parameters(options)),
            "result": ["name": "result", "schema": described.schemas.result ?? true],
        ]
        if let plugin = described.task.provider as? PluginSlot { method["tags"] = [["name": .string(plugin.name)]] }
        // A parameter is a member of an object: options of another kind have no other place here.
        if options?["properties"] == nil { method["x-options"] = options ?? true }
        if let progress = described.schemas.progress { method["x-progress"] = progress }
        return .object(method)
    }

    private func parameters(_ options: JSON?) -> [JSON] {
        let required = options?["required"]?.arrayValue ?? []
        return (options?["properties"]?.objectValue ?? [:]).map { key, schema in
            var parameter: JSONObject = ["name": .string(key), "schema": schema]
            if let summary = schema["description"] { parameter["summary"] = summary }
            if required.contains(.string(key)) { parameter["required"] = true }
            return .object(parameter)
        }
    }
}
