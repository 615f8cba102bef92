import BridgeJSON
import TOMLDocument
import TaskRuntime

/// The effective settings with their origins, as a file that would set the same values. Defaults are commented out,
/// because some of them are refused in a file, such as folders that need not exist. Values with names of secrets are
/// left out.
struct EffectiveConfiguration {
    private let configuration: Configuration

    init(_ configuration: Configuration) { self.configuration = configuration }

    var text: String {
        let file = configuration.file ?? "none: there is no configuration file"
        var lines = ["# The settings in force. File: \(file)"]
        var table = ""
        for setting in Configuration.settings {
            if setting.table != table { lines += ["", "[\(setting.table)]"] }
            table = setting.table
            let line = "\(setting.name) = \(setting.write(configuration))"
            lines.append(origin(of: setting.key).map { "\(line)  # \($0)" } ?? "#\(line)  # default")
        }
        for section in configuration.pluginSections { lines += self.lines(of: section) }
        return lines.joined(separator: "\n") + "\n"
    }

    private func origin(of key: String) -> String? {
        guard let origin = configuration.origins[key] else { return nil }
        return origin.isFile ? "line \(origin.value.position.line)" : origin.source
    }

    private func lines(of section: PluginSection) -> [String] {
        let entries = section.table.entries.map { entry in
            let key = TOMLText.key(entry.key)
            let line = "line \(entry.keyPosition.line)"
            let value = SecretNames.isOne(entry.key) ? nil : section.json[entry.key].flatMap(shown)
            return value.map { "\(key) = \($0)  # \(line)" } ?? "# \(key) is secret, and is not shown: \(line)"
        }
        return ["", "[plugins.\(TOMLText.key(section.name))]"] + entries
    }

    /// Returns the value as TOML; `nil` if a part of it is secret.
    private func shown(_ value: JSON) -> String? { hasSecrets(value) ? nil : PluginSchema.toml(value) }

    private func hasSecrets(_ value: JSON) -> Bool {
        switch value {
        case .array(let items): items.contains(where: hasSecrets)
        case .object(let members): members.contains { SecretNames.isOne($0.key) || hasSecrets($0.value) }
        default: false
        }
    }
}
