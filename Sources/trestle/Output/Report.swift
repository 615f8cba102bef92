import BridgeJSON

/// An object as a report: its plain members aligned, lists of objects as tables, everything else as indented JSON.
/// Shows all members in their order.
enum Report {
    /// Returns the report.
    ///
    /// - Parameter columns: The maximum width of a table; `nil` for no limit.
    static func text(_ object: JSON, colour: Bool, columns: Int? = nil) -> String {
        let members = object.objectValue.map(Array.init) ?? []
        let plain = members.filter { isPlain($0.value) }
        let width = plain.map { PlainText.width(Cell.title($0.key)) }.max() ?? 0
        var result = ""
        for (key, value) in plain {
            let title = PlainText.padded(PlainText.line(Cell.title(key)), to: width)
            result += "\(bold(title, colour))  \(Cell.text(value, key: key))\n"
        }
        for (key, value) in members where !isPlain(value) && !Cell.isEmpty(value) {
            result += "\n\(bold(PlainText.line(key), colour))\n"
            if case .array(let rows) = value, rows.allSatisfy({ $0.objectValue != nil }) {
                result += Table(rows, first: ["name"]).text(bold: false, indent: "  ", columns: columns)
            } else {
                let json = JSONPrinter(colour: colour).print(value)
                result += json.split(separator: "\n").map { "  \($0)\n" }.joined()
            }
        }
        return result
    }

    private static func isPlain(_ value: JSON) -> Bool {
        switch value {
        case .object: false
        case .array(let elements): !elements.isEmpty && elements.allSatisfy { isPlain($0) && $0.arrayValue == nil }
        default: true
        }
    }

    private static func bold(_ text: String, _ colour: Bool) -> String {
        colour ? "\u{1B}[1m\(text)\u{1B}[0m" : text
    }
}
