// Keys in the wrong table: a setting that is appended to a file becomes part of the file's last table.

enum MisplacedKey {
    /// Returns the end of a message about an unknown key: the right place of the key; `nil` if no setting has exactly
    /// this name.
    ///
    /// - Parameters:
    ///   - name: The key, as in the file.
    ///   - table: The table that contains it; empty for the top level.
    ///   - settings: All settings.
    static func hint<Target>(_ name: String, in table: String, _ settings: [Setting<Target>]) -> String? {
        if !table.isEmpty, settings.contains(where: { $0.table.isEmpty && $0.name == name || $0.table == name }) {
            return "; `\(name)` belongs above the first table of the file"
        }
        let tables = settings.filter { $0.name == name && !$0.table.isEmpty }.map { "[\($0.table)]" }
        return tables.isEmpty ? nil : "; `\(name)` belongs in the table \(tables.joined(separator: " or "))"
    }
}
