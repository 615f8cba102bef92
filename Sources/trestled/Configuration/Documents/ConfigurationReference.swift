/// The reference in Markdown: a heading and a table for each table of the configuration.
struct ConfigurationReference {
    let document: ConfigurationDocument

    var text: String {
        document.tables.map { table in
            let title = table.name.isEmpty ? "The top level" : "`[\(table.name)]`"
            let rows = table.settings.map { row($0, of: table) }
            return (["### \(title)", "", table.about, "", Self.head, Self.rule] + rows).joined(separator: "\n") + "\n"
        }.joined(separator: "\n")
    }

    private static let head = "| setting | values | default | a change takes effect | meaning |"
    private static let rule = "| --- | --- | --- | --- | --- |"

    private func row(_ setting: DocumentedSetting, of table: DocumentedTable) -> String {
        let key = table.name.isEmpty ? setting.name : "\(table.name).\(setting.name)"
        let value = setting.value.map { "`\($0)`" } ?? ""
        let note = setting.defaultNote.map { " (\($0.droppingFullStop))" } ?? ""
        let effect = setting.effect == .reload ? "at a reload" : "after a restart"
        let cells = ["`\(key)`", setting.type, value + note, effect, setting.documentation]
        return "| " + cells.map(Self.escaped).joined(separator: " | ") + " |"
    }

    /// Escapes characters that would end a cell or begin emphasis or a tag.
    private static func escaped(_ text: String) -> String {
        var isCode = false
        return text.reduce(into: "") { output, character in
            if character == "`" { isCode.toggle() }
            if character == "|" || !isCode && "*<".contains(character) { output.append("\\") }
            output.append(character)
        }
    }
}

extension String {
    fileprivate var droppingFullStop: String { hasSuffix(".") ? String(dropLast()) : self }
}
