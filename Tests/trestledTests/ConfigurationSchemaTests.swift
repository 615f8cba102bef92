import BridgeJSON
import TOMLDocument
import Testing

@testable import trestled

@Suite("The JSON Schema of the configuration")
struct ConfigurationSchemaTests {
    private func schema() throws -> JSON { ConfigurationSchema(document: try describedConfiguration()).json }

    private func schema(of key: String) throws -> JSON {
        try key.split(separator: ".").reduce(schema()) { table, name in
            try #require(table["properties"]?[String(name)], "\(key)")
        }
    }

    @Test("contains every setting with its documentation, and allows no other key")
    func complete() throws {
        for setting in Configuration.settings {
            let description = try schema(of: setting.key)["description"]?.stringValue
            #expect(description?.hasPrefix(setting.documentation) == true, "\(setting.key)")
        }
        #expect(try schema()["additionalProperties"] == false)
        #expect(try schema()["properties"]?["limits"]?["additionalProperties"] == false)
        #expect(try schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema")
        // A section of a plugin that was not installed when the schema was written is a table.
        #expect(try schema()["properties"]?["plugins"]?["additionalProperties"] == ["type": "object"])
    }

    @Test("contains a plugin's section without null, which TOML does not have")
    func plugins() throws {
        #expect(try schema(of: "plugins.lamp.level")["type"] == "integer")
        #expect(try schema(of: "plugins.lamp.level")["default"] == 3)
        #expect(try schema(of: "plugins.lamp")["additionalProperties"] == false)
    }

    @Test("contains each default that is the same everywhere, and allows it")
    func defaults() throws {
        for setting in Configuration.settings {
            let schema = try schema(of: setting.key)
            #expect((schema["default"] == nil) == (setting.defaultNote != nil), "\(setting.key)")
            if let value = schema["default"] { #expect(fits(value, schema), "\(setting.key): \(value.text)") }
        }
    }

    @Test("allows every value that the daemon accepts")
    func agrees() throws {
        let values: [JSON] = [
            0, 1, 7, 100, 65_536, 2_000_000_000, -1, 1.5, true, "", "x", "/x", "0600", "600", "1777", "0800", "error",
            "warn", "5", "5s", "250ms", "5 s", "1h", "64KiB", "64K", "1MiB", "1b", ["x"], ["/x", "/y"], ["x", 1], [],
        ]
        var refused = 0
        for setting in Configuration.settings {
            let schema = try schema(of: setting.key)
            for value in values {
                let text = try #require(PluginSchema.toml(value))
                let document = try TOMLDocument(parsing: "value = \(text)", file: "t.toml")
                var target = Configuration(environment: environment(), executable: "/usr/bin/trestled")
                let isRead = (try? setting.read(try #require(document.root["value"]), &target)) != nil
                let fits = fits(value, schema)
                #expect(fits || !isRead, "\(setting.key) = \(text) is read, and the schema has nothing of it")
                if !fits { refused += 1 }
            }
        }
        #expect(refused > Configuration.settings.count * values.count / 2)
    }

    /// Returns whether a value fits a schema. Supports only the keywords of these schemas.
    private func fits(_ value: JSON, _ schema: JSON) -> Bool {
        if let forms = schema["anyOf"]?.arrayValue { return forms.contains { fits(value, $0) } }
        if let words = schema["enum"]?.arrayValue { return words.contains(value) }
        switch schema["type"]?.stringValue {
        case "string":
            guard let text = value.stringValue else { return false }
            if let minimum = schema["minLength"]?.int64Value, text.count < minimum { return false }
            guard let pattern = schema["pattern"]?.stringValue else { return true }
            guard let expression = try? Regex(pattern) else { return false }
            return text.contains(expression)
        case "integer":
            guard let number = value.int64Value else { return false }
            return number >= schema["minimum"]?.int64Value ?? .min && number <= schema["maximum"]?.int64Value ?? .max
        case "boolean": return value.boolValue != nil
        case "array":
            guard let items = value.arrayValue, let item = schema["items"] else { return false }
            return items.allSatisfy { fits($0, item) }
        case "object":
            guard let members = value.objectValue, let member = schema["additionalProperties"] else { return false }
            return members.allSatisfy { fits($0.value, member) }
        default: return false
        }
    }
}
