// A plugin's own part of the configuration.
import TOMLDocument

/// A `[plugins.NAME]` table: the daemon hands it to the plugin, and gives the plugin's objections their places.
struct PluginSection: Sendable, Equatable {
    /// The plugin's name.
    let name: String
    /// The file it stands in.
    let file: String
    /// Where the name stands.
    let position: TOMLPosition
    /// What the plugin is to be given.
    let table: TOMLTable

    init(_ entry: TOMLTable.Entry, file: String) {
        name = entry.key
        self.file = file
        position = entry.keyPosition
        table = entry.value.table ?? TOMLTable()
    }

    /// An objection to what stands at a JSON path, as a plugin makes it (`$.presenters[1]`), with its place.
    ///
    /// - Parameters:
    ///   - path: The path in the JSON that the plugin was given. One that leads to nothing (a key that is missing) is
    ///     placed at the last part that exists.
    ///   - reason: What the plugin says.
    ///   - isUnknownKey: Whether the objection is to the key itself, not to its value.
    func problem(at path: String, _ reason: String, isUnknownKey: Bool = false) -> ConfigurationProblem {
        var rest = path.hasPrefix("$") ? path.dropFirst() : path[...]
        let key = "plugins." + TOMLText.key(name) + rest
        var value = TOMLValue(.table(table), at: position)
        var place = position
        while let step = Self.step(into: value, &rest) {
            value = step.value
            place = isUnknownKey ? step.keyPosition : value.position
        }
        return ConfigurationProblem(source: file, position: place, key: key, reason: reason)
    }

    private struct Step {
        var keyPosition: TOMLPosition
        var value: TOMLValue
    }

    /// Takes one part off the path. A key may itself hold dots: of those that fit, the longest is meant.
    private static func step(into value: TOMLValue, _ path: inout Substring) -> Step? {
        switch value.content {
        case .table(let table) where path.hasPrefix("."):
            let fitting = table.entries.filter { entry in
                guard path.dropFirst().hasPrefix(entry.key) else { return false }
                let next = path.dropFirst(1 + entry.key.count).first
                return next == nil || next == "." || next == "["
            }
            guard let entry = fitting.max(by: { $0.key.count < $1.key.count }) else { return nil }
            path = path.dropFirst(1 + entry.key.count)
            return Step(keyPosition: entry.keyPosition, value: entry.value)
        case .array(let items) where path.hasPrefix("["):
            guard let end = path.firstIndex(of: "]"), let index = Int(path[..<end].dropFirst()),
                items.indices.contains(index)
            else { return nil }
            path = path[path.index(after: end)...]
            return Step(keyPosition: items[index].position, value: items[index])
        default:
            return nil
        }
    }
}

extension Configuration {
    /// The section of a plugin.
    func section(of plugin: String) -> PluginSection? {
        pluginSections.first { $0.name == plugin }
    }

    /// What the file says about plugins that are not installed: a mistyped name must not go unnoticed, least of all
    /// one that was to be disabled.
    ///
    /// - Parameter installed: The names of all plugins found, disabled ones too.
    func problems(installedPlugins installed: [String]) -> [ConfigurationProblem] {
        func reason(_ name: String) -> String {
            "no plugin of this name is installed\(Suggestion.hint(for: name, among: installed.sorted()))"
        }
        let disabled = disabledPlugins.enumerated().filter { !installed.contains($0.element) }.map { index, name in
            problem(with: "plugins.disabled", index: index, "\(TOMLText.quoted(name)): \(reason(name))")
        }
        let sections = pluginSections.filter { !installed.contains($0.name) }.map { section in
            ConfigurationProblem(
                source: section.file, position: section.position, key: "plugins.\(TOMLText.key(section.name))",
                reason: reason(section.name))
        }
        return disabled + sections
    }
}
