import BridgeJSON

/// The JSON Schema of the file, for editors that use it to complete and check TOML.
struct ConfigurationSchema {
    let document: ConfigurationDocument

    var text: String { JSONPrinter().print(json) + "\n" }

    var json: JSON {
        var root: JSONObject = [
            "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "The configuration of trestled",
        ]
        var properties = JSONObject()
        var sections = JSONObject()
        for table in document.tables {
            if table.isPlugins {
                sections[String(table.name.dropFirst("plugins.".count))] = schema(of: table)
            } else if table.name.isEmpty {
                for setting in table.settings { properties[setting.name] = schema(of: setting) }
            } else {
                properties[table.name] = schema(of: table)
            }
        }
        properties["plugins"] = properties["plugins"].map { adding(sections, to: $0) }
        root["type"] = "object"
        root["properties"] = .object(properties)
        root["additionalProperties"] = false
        return .object(root)
    }

    private func schema(of table: DocumentedTable) -> JSON {
        var properties = JSONObject()
        for setting in table.settings { properties[setting.name] = schema(of: setting) }
        return [
            "type": "object", "description": .string(table.about), "properties": .object(properties),
            "additionalProperties": false,
        ]
    }

    private func schema(of setting: DocumentedSetting) -> JSON {
        guard case .object(var schema) = setting.schema else { return setting.schema }
        if schema["default"] == nil { schema["default"] = setting.defaultNote == nil ? setting.defaultJSON : nil }
        return .object(schema)
    }

    /// Returns `[plugins]` with the sections of the described plugins; sections of other plugins may contain anything.
    private func adding(_ sections: JSONObject, to plugins: JSON) -> JSON {
        guard case .object(var table) = plugins else { return plugins }
        var properties = table["properties"]?.objectValue ?? JSONObject()
        for (name, section) in sections { properties[name] = section }
        table["properties"] = .object(properties)
        table["additionalProperties"] = ["type": "object"]
        return .object(table)
    }
}
