internal import Synchronization

/// The current value of a plugin's section of the configuration. Any thread.
///
///     let configuration = PluginConfiguration(Settings())
///     Plugin("greeter", version: "1.0.0") { Greet(configuration: configuration) }
///         .configuration(configuration, reloadable: true)
///
/// Read ``value`` each time a setting is needed: a reload of the configuration changes it.
public final class PluginConfiguration<C: Codable & Sendable>: Sendable {
    private let section: Mutex<C>

    /// - Parameter initial: The value until the daemon configures the plugin, which it does before anything else.
    public init(_ initial: C) { section = Mutex(initial) }

    /// The current section.
    public internal(set) var value: C {
        get { section.withLock { $0 } }
        set { section.withLock { $0 = newValue } }
    }
}

/// A plugin's section of the configuration, with its type erased.
struct ConfigurationSection: Sendable {
    private let type: any (Codable & Sendable).Type
    /// The name of the section's type. Computed when it is shown: for it, the runtime searches all types' conformances.
    var typeName: String { String(describing: type) }
    let isReloadable: Bool
    let settings: [String: JSON]
    let schema: @Sendable () throws(JSONSchemaError) -> JSON
    /// Checks a section and stores nothing.
    let check: @Sendable (UnsafeRawBufferPointer) throws -> Void
    /// Checks a section and stores it.
    let read: @Sendable (UnsafeRawBufferPointer) throws -> Void

    init<C: Codable & Sendable>(
        _ configuration: PluginConfiguration<C>, describing settings: [String: JSON], isReloadable: Bool,
        check: @escaping @Sendable (C) throws -> Void, onChange: @escaping @Sendable (C) -> Void
    ) {
        type = C.self
        self.isReloadable = isReloadable
        self.settings = settings
        schema = { () throws(JSONSchemaError) in
            var schema = try JSONSchema.derive(from: C.self).objectValue ?? JSONObject()
            schema["additionalProperties"] = false
            schema["properties"] = schema["properties"].map { Self.describe($0, settings) }
            return .object(schema)
        }
        self.check = { try check(JSONCoding.decode(C.self, from: $0, unknownKeys: .refuse)) }
        read = {
            let section = try JSONCoding.decode(C.self, from: $0, unknownKeys: .refuse)
            try check(section)
            configuration.value = section
            onChange(section)
        }
    }

    /// Returns the derived properties with the members of `settings` added.
    private static func describe(_ properties: JSON, _ settings: [String: JSON]) -> JSON {
        var described = JSONObject()
        for (key, derived) in properties.objectValue ?? JSONObject() {
            var schema = derived.objectValue ?? JSONObject()
            for (keyword, value) in settings[key]?.objectValue ?? JSONObject() { schema[keyword] = value }
            described[key] = .object(schema)
        }
        return .object(described)
    }
}
