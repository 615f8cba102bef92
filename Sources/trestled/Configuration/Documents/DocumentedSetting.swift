// The source of the sample, the reference and the schema: the daemon's own settings and those of its plugins, in one
// form.
import BridgeJSON
import TOMLDocument
import TaskRuntime

/// A setting, as it is shown to operators.
struct DocumentedSetting: Sendable {
    /// The name within its table.
    var name: String
    /// The form of its values, in a few words.
    var type: String
    /// The default as TOML; `nil` if it cannot be written.
    var value: String?
    /// A description of the default, if it depends on the user and directory of the daemon; otherwise `nil`.
    var defaultNote: String?
    var effect: SettingEffect
    /// The description.
    var documentation: String
    /// The JSON Schema of its values.
    var schema: JSON

    /// The default as JSON; `nil` if there is none.
    var defaultJSON: JSON? {
        let document = value.flatMap { try? TOMLDocument(parsing: "value = \($0)", file: "") }
        return document.flatMap { JSON($0.root)["value"] }
    }
}

/// A table of the configuration: the settings at the top level, `[limits]`, `[plugins.NAME]`.
struct DocumentedTable: Sendable {
    /// The name, with dots as in `plugins.alert`; empty for the top level.
    var name: String
    /// The description, one sentence.
    var about: String
    var settings: [DocumentedSetting]
    /// Whether it is a plugin's own table.
    var isPlugins = false
}

/// All tables, in the order in which they are shown.
struct ConfigurationDocument: Sendable {
    private(set) var tables: [DocumentedTable] = []

    /// - Parameter plugins: The plugins with a section to show: those whose manifest describes it.
    init(plugins: [PluginManifest]) {
        let defaults = Self.shownDefaults
        for setting in Configuration.settings {
            if tables.last?.name != setting.table {
                let about = Configuration.tables[setting.table] ?? ""
                tables.append(DocumentedTable(name: setting.table, about: about, settings: []))
            }
            tables[tables.count - 1].settings.append(DocumentedSetting(setting, defaults: defaults))
        }
        for plugin in plugins.sorted(by: { $0.name < $1.name }) {
            if let table = DocumentedTable(plugin) { tables.append(table) }
        }
    }

    /// The defaults of a system-wide installation. Defaults that depend on the user differ elsewhere.
    private static var shownDefaults: Configuration {
        let root = ConfigurationEnvironment(
            variables: [:], userID: 0, homeDirectory: "/root", workingDirectory: "/")
        return Configuration(environment: root, executable: "/usr/bin/trestled")
    }
}

extension DocumentedSetting {
    init(_ setting: Setting<Configuration>, defaults: Configuration) {
        let value = setting.example ?? setting.write(defaults)
        self.init(
            name: setting.name, type: setting.shape.described, value: value, defaultNote: setting.defaultNote,
            effect: setting.effect, documentation: setting.documentation,
            schema: setting.shape.schema(description: setting.documentation))
    }

    /// Creates a plugin's setting from the schema in its manifest. TOML has no null, so a permitted null is ignored.
    init(_ name: String, _ schema: JSON, effect: SettingEffect) {
        let schema = schema.withoutNull
        self.init(
            name: name, type: PluginSchema.described(schema), value: schema["default"].flatMap(PluginSchema.toml),
            effect: effect, documentation: schema["description"]?.stringValue ?? "", schema: schema)
    }
}

extension DocumentedTable {
    /// Creates the section of a plugin; `nil` if it has none or its manifest does not describe it.
    fileprivate init?(_ plugin: PluginManifest) {
        guard let properties = plugin.configuration?["properties"]?.objectValue, !properties.isEmpty else { return nil }
        let effect: SettingEffect = plugin.isReloadable ? .reload : .restart
        self.init(
            name: "plugins.\(TOMLText.key(plugin.name))", about: "The plugin \(plugin.name).",
            settings: properties.map { DocumentedSetting($0.key, $0.value, effect: effect) }, isPlugins: true)
    }
}
