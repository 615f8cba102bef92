// From a document and flags to values, with everything that is wrong on the way.
import BridgeJSON
import TOMLDocument
import TaskRuntime

/// Reads settings of `Target` from layers, the later beating the earlier, and gathers the problems of all of them.
struct SettingsReader<Target> {
    let settings: [Setting<Target>]
    /// A table whose own tables are not settings but belong to others: `plugins`, for `[plugins.NAME]`.
    let sectionsTable: String
    /// What has been read so far.
    private(set) var target: Target
    /// Everything wrong so far.
    private(set) var problems: [ConfigurationProblem] = []
    /// The settings whose values are wrong: they are as they were before.
    private(set) var faulty: Set<String> = []
    /// The tables that belong to others, in order.
    private(set) var sections: [TOMLTable.Entry] = []
    /// Where each setting that was given comes from.
    private(set) var origins: [String: SettingOrigin] = [:]

    init(_ settings: [Setting<Target>], sectionsTable: String, defaults: Target) {
        self.settings = settings
        self.sectionsTable = sectionsTable
        target = defaults
    }

    /// Reads a whole document.
    mutating func read(_ document: TOMLDocument) {
        read(document.root, at: "", file: document.file)
        problems.sort { ($0.position ?? .init(line: 0, column: 0)) < ($1.position ?? .init(line: 0, column: 0)) }
    }

    /// Reads what flags say. After the document: flags beat it.
    mutating func read(_ overrides: ConfigurationOverrides, workingDirectory: String) {
        for override in overrides.entries {
            guard let setting = settings.first(where: { $0.key == override.key }) else {
                let hint = Suggestion.hint(for: override.key, among: settings.map(\.key))
                report(override.flag, nil, nil, "there is no setting '\(override.key)'\(hint)")
                continue
            }
            let value = override.value(for: setting.shape, workingDirectory: workingDirectory)
            read(value, setting, SettingOrigin(source: override.flag, value: value, isFile: false))
        }
    }

    private mutating func read(_ table: TOMLTable, at path: String, file: String) {
        for entry in table.entries {
            let key = TOMLText.path(path, entry.key)
            if let setting = settings.first(where: { $0.key == key }) {
                read(entry.value, setting, SettingOrigin(source: file, value: entry.value, isFile: true))
            } else if key == sectionsTable || settings.contains(where: { $0.table == key }) {
                readTable(entry, key, file)
            } else if path == sectionsTable, entry.value.table != nil {
                sections.append(entry)
            } else {
                report(
                    file, entry.keyPosition, key,
                    "unknown key\(RenamedName.hint(for: entry.key) ?? hint(for: entry.key, in: path))")
            }
        }
    }

    private mutating func readTable(_ entry: TOMLTable.Entry, _ key: String, _ file: String) {
        if let table = entry.value.table {
            read(table, at: key, file: file)
        } else {
            let reason = "expected a table ([\(key)]); got \(TOMLText.named(entry.value))"
            report(file, entry.value.position, key, reason)
        }
    }

    private mutating func read(_ value: TOMLValue, _ setting: Setting<Target>, _ origin: SettingOrigin) {
        do throws(SettingMismatches) {
            try setting.read(value, &target)
            origins[setting.key] = origin
        } catch {
            faulty.insert(setting.key)
            for item in error.items {
                let key = item.index.map { "\(setting.key)[\($0)]" } ?? setting.key
                report(origin.source, origin.isFile ? item.position : nil, origin.isFile ? key : nil, item.reason)
            }
        }
    }

    private mutating func report(_ source: String, _ position: TOMLPosition?, _ key: String?, _ reason: String) {
        problems.append(ConfigurationProblem(source: source, position: position, key: key, reason: reason))
    }

    /// The names that a table knows and, where one is near, which was meant. Of a key that belongs elsewhere, where.
    private func hint(for name: String, in table: String) -> String {
        if let hint = MisplacedKey.hint(name, in: table, settings) { return hint }
        var known = settings.filter { $0.table == table }.map(\.name)
        if table.isEmpty { known += tables }
        if table == sectionsTable { known.append("a table [\(sectionsTable).NAME] for each plugin") }
        if Suggestion.nearest(to: name, among: known) == nil,
            let elsewhere = Suggestion.nearest(to: name, among: settings.map(\.name)),
            let setting = settings.first(where: { $0.name == elsewhere })
        {
            return "; did you mean '\(setting.key)'? (known: \(known.joined(separator: ", ")))"
        }
        return Suggestion.hint(for: name, among: known)
    }

    /// The top-level tables, in the order in which settings declare them.
    private var tables: [String] {
        var tables: [String] = []
        for setting in settings where !setting.table.isEmpty && !tables.contains(setting.table) {
            tables.append(setting.table)
        }
        return tables.contains(sectionsTable) ? tables : tables + [sectionsTable]
    }
}

/// Where the value of a setting comes from, for problems that show only when it is used.
struct SettingOrigin: Sendable, Hashable {
    /// The file, or the flag.
    var source: String
    /// The value as it was given.
    var value: TOMLValue
    /// Whether the value's position is one in the file.
    var isFile: Bool
}
