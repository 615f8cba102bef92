// Keys that stand in a table that is not theirs: a setting that was appended to a file lands in its last table.

enum MisplacedKey {
    /// The end of a message about an unknown key: where it belongs. Nil: nowhere by exactly this name.
    ///
    /// - Parameters:
    ///   - name: The key, as it stands there.
    ///   - table: The table that it stands in; empty for the top level.
    ///   - settings: Those that there are.
    static func hint<Target>(_ name: String, in table: String, _ settings: [Setting<Target>]) -> String? {
        if !table.isEmpty, settings.contains(where: { $0.table.isEmpty && $0.name == name || $0.table == name }) {
            return "; `\(name)` belongs above the first table of the file"
        }
        let tables = settings.filter { $0.name == name && !$0.table.isEmpty }.map { "[\($0.table)]" }
        return tables.isEmpty ? nil : "; `\(name)` belongs in the table \(tables.joined(separator: " or "))"
    }
}
