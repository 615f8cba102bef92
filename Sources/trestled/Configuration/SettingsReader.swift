// The conversion of a document and flags to values and problems.
import BridgeJSON
import TOMLDocument
import TaskRuntime

/// Reads settings of `Target` from layers and collects the problems of all of them. A later layer overrides an earlier
/// one.
struct SettingsReader<Target> {
    let settings: [Setting<Target>]
    /// The table whose subtables are not settings: `plugins`, for `[plugins.NAME]`.
    let sectionsTable: String
    /// The values that have been read so far.
    private(set) var target: Target
    /// The problems that have been found so far.
    private(set) var problems: [ConfigurationProblem] = []
    /// The settings with invalid values; they keep their previous values.
    private(set) var faulty: Set<String> = []
    /// The subtables of `sectionsTable`, in order.
    private(set) var sections: [TOMLTable.Entry] = []
    /// The origin of each setting that was set.
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

    /// Reads the flags. Must be called after the document is read, because flags override it.
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

    /// Returns a hint for an unknown key: the right table of a misplaced key, or a similar name and the table's known
    /// names.
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

    /// The top-level tables, in the order of the settings' declarations.
    private var tables: [String] {
        var tables: [String] = []
        for setting in settings where !setting.table.isEmpty && !tables.contains(setting.table) {
            tables.append(setting.table)
        }
        return tables.contains(sectionsTable) ? tables : tables + [sectionsTable]
    }
}

/// The origin of a setting's value, for problems that appear only when the value is used.
struct SettingOrigin: Sendable, Hashable {
    /// The file or the flag.
    var source: String
    /// The value, as in the source.
    var value: TOMLValue
    /// Whether the value's position is in the file.
    var isFile: Bool
}
