// A plugin's section of the configuration.
import BridgeJSON
import TOMLDocument

/// A `[plugins.NAME]` table. The daemon passes it to the plugin and adds the locations to the plugin's objections.
struct PluginSection: Sendable, Equatable {
    /// The plugin's name.
    let name: String
    /// The file that contains it.
    let file: String
    /// The position of the name.
    let position: TOMLPosition
    /// The contents.
    let table: TOMLTable

    init(_ entry: TOMLTable.Entry, file: String) {
        name = entry.key
        self.file = file
        position = entry.keyPosition
        table = entry.value.table ?? TOMLTable()
    }

    /// Creates a section from a whole file.
    init(root: TOMLTable, file: String) {
        name = file
        self.file = file
        position = TOMLPosition(line: 1, column: 1)
        table = root
    }

    /// The table as JSON.
    var json: JSON { JSON(table) }

    /// Returns the problem that a plugin reported (`configuration.invalid`), with its location.
    ///
    /// - Parameter refusal: The error; its data's `path`, `expected`, `got` and `known` contain place and reason.
    func problem(_ refusal: BridgeError) -> ConfigurationProblem {
        let path = refusal.data?["path"]?.stringValue ?? "$"
        let known = refusal.data?["known"]?.arrayValue?.compactMap(\.stringValue)
        let reason =
            if let known {
                "unknown key\(hint(for: path, among: known))"
            } else if let expected = refusal.data?["expected"]?.stringValue, let got = refusal.data?["got"]?.stringValue
            {
                "expected \(expected); got \(got)"
            } else {
                refusal.message
            }
        return problem(at: path, reason, isUnknownKey: known != nil)
    }

    /// Returns a problem with the value at a JSON path (`$.presenters[1]`), with its location.
    ///
    /// - Parameters:
    ///   - path: The path in the JSON that the plugin received. If it leads to no value (a missing key), the location
    ///     is that of the last part that exists.
    ///   - reason: The problem, in one line.
    ///   - isUnknownKey: Whether the problem concerns the key itself and not its value.
    func problem(at path: String, _ reason: String, isUnknownKey: Bool = false) -> ConfigurationProblem {
        let last = steps(along: path).last
        let stepPosition = isUnknownKey ? last?.keyPosition : last?.value.position
        let key = "plugins.\(TOMLText.key(name))\(path.hasPrefix("$") ? path.dropFirst() : path[...])"
        return ConfigurationProblem(source: file, position: stepPosition ?? position, key: key, reason: reason)
    }

    /// Returns the first member of the section on a path; `nil` if the path leads to none.
    func member(at path: String) -> String? { steps(along: path).first?.key }

    private func hint(for path: String, among known: [String]) -> String {
        let key = steps(along: path).last?.key ?? ""
        return MisplacedKey.hint(key, in: "plugins.\(name)", Configuration.settings)
            ?? Suggestion.hint(for: key, among: known)
    }

    /// A step of a path: a table's key or an array's item.
    private struct Step {
        var key: String?
        var keyPosition: TOMLPosition
        var value: TOMLValue
    }

    /// Returns the values along a path, as far as they exist.
    private func steps(along path: String) -> [Step] {
        var rest = path.hasPrefix("$") ? path.dropFirst() : path[...]
        var steps: [Step] = []
        while let step = Self.step(into: steps.last?.value ?? TOMLValue(.table(table), at: position), &rest) {
            steps.append(step)
        }
        return steps
    }

    /// Removes the first step from the path: `.key`, `["a key"]` or `[1]`.
    private static func step(into value: TOMLValue, _ path: inout Substring) -> Step? {
        if let table = value.table {
            for entry in table.entries {
                let spellings = [".\(entry.key)", "[\(JSON.string(entry.key).text)]"]
                guard let spelling = spellings.first(where: path.hasPrefix) else { continue }
                let rest = path.dropFirst(spelling.count)
                // `.a` must not match the beginning of `.ab`.
                guard rest.isEmpty || rest.hasPrefix(".") || rest.hasPrefix("[") else { continue }
                path = rest
                return Step(key: entry.key, keyPosition: entry.keyPosition, value: entry.value)
            }
        } else if let items = value.array, path.hasPrefix("["), let end = path.firstIndex(of: "]"),
            let index = Int(path[..<end].dropFirst()), items.indices.contains(index)
        {
            path = path[path.index(after: end)...]
            return Step(keyPosition: items[index].position, value: items[index])
        }
        return nil
    }
}

extension JSON {
    /// Converts a table to an object. Dates become strings, and so do the floats that JSON does not have: `inf` and
    /// `nan`.
    init(_ table: TOMLTable) {
        var object = JSONObject()
        for entry in table.entries { object[entry.key] = JSON(entry.value) }
        self = .object(object)
    }

    private init(_ value: TOMLValue) {
        switch value.content {
        case .string(let text), .date(let text): self = .string(text)
        case .integer(let integer): self = .number(JSONNumber(integer))
        case .float(let float): self = JSONNumber(float).map(JSON.number) ?? .string(float.description)
        case .boolean(let boolean): self = .bool(boolean)
        case .array(let items): self = .array(items.map(JSON.init))
        case .table(let table): self = JSON(table)
        }
    }
}

extension Configuration {
    /// Returns the section of a plugin; `nil` if there is none.
    func section(of plugin: String) -> PluginSection? {
        pluginSections.first { $0.name == plugin }
    }

    /// Returns the part of a plugin's section that the plugin receives: without the daemon's own keys.
    func json(of plugin: String) -> JSON {
        var section = section(of: plugin)?.json.objectValue ?? [:]
        section[PluginIsolation.key] = nil
        section[PluginPool.key] = nil
        return .object(section)
    }

    /// Returns the problem that a plugin reported, with its location or with the name of the missing section.
    func problem(of plugin: String, _ refusal: BridgeError) -> ConfigurationProblem {
        section(of: plugin)?.problem(refusal)
            ?? ConfigurationProblem(
                source: file ?? "the default configuration", key: "plugins.\(TOMLText.key(plugin))",
                reason: refusal.message)
    }

    /// Returns problems for plugins that the file names and that are not installed. A misspelt name must be noticed,
    /// above all in the list of disabled plugins.
    ///
    /// - Parameter installed: The names of all plugins found, including disabled ones.
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
