// What the sample, the reference and the schema are written from: the daemon's own settings and those of its plugins,
// in one form.
import BridgeJSON
import TOMLDocument
import TaskRuntime

/// A setting, as it is shown to operators.
struct DocumentedSetting: Sendable {
    /// Its name within its table.
    var name: String
    /// What its values look like, in a few words.
    var type: String
    /// The default as TOML; nil where there is none that could be written.
    var value: String?
    /// What the default is, where it depends on who runs the daemon and from where.
    var defaultNote: String?
    var effect: SettingEffect
    /// What it is for.
    var documentation: String
    /// What its values look like, as JSON Schema.
    var schema: JSON

    /// The default as JSON.
    var defaultJSON: JSON? {
        let document = value.flatMap { try? TOMLDocument(parsing: "value = \($0)", file: "") }
        return document.flatMap { JSON($0.root)["value"] }
    }
}

/// A table of the configuration: the settings at the top level, `[limits]`, `[plugins.NAME]`.
struct DocumentedTable: Sendable {
    /// With dots, as in `plugins.alert`; empty for the top level.
    var name: String
    /// What it is about, in a sentence.
    var about: String
    var settings: [DocumentedSetting]
    /// Whether it is a plugin's own.
    var isPlugins = false
}

/// All of it, in the order in which it is shown.
struct ConfigurationDocument: Sendable {
    private(set) var tables: [DocumentedTable] = []

    /// - Parameter plugins: The plugins whose sections are shown: those that describe theirs.
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

    /// The defaults of an installation for the whole machine: those that depend on who runs the daemon differ
    /// elsewhere.
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

    /// A plugin's setting, from the schema in its manifest. TOML has no null, so that one is allowed says nothing.
    init(_ name: String, _ schema: JSON, effect: SettingEffect) {
        let schema = schema.withoutNull
        self.init(
            name: name, type: PluginSchema.described(schema), value: schema["default"].flatMap(PluginSchema.toml),
            effect: effect, documentation: schema["description"]?.stringValue ?? "", schema: schema)
    }
}

extension DocumentedTable {
    /// The section of a plugin; nil where it has none, or its manifest does not describe it.
    fileprivate init?(_ plugin: PluginManifest) {
        guard let properties = plugin.configuration?["properties"]?.objectValue, !properties.isEmpty else { return nil }
        let effect: SettingEffect = plugin.isReloadable ? .reload : .restart
        self.init(
            name: "plugins.\(TOMLText.key(plugin.name))", about: "The plugin \(plugin.name).",
            settings: properties.map { DocumentedSetting($0.key, $0.value, effect: effect) }, isPlugins: true)
    }
}
