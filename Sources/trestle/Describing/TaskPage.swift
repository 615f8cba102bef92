import BridgeJSON

/// The description of a task by `bridge.describe`, as a page of text.
struct TaskPage {
    private let description: JSON
    private let isBold: Bool

    init(_ description: JSON, isBold: Bool) { (self.description, self.isBold) = (description, isBold) }

    var text: String {
        var text = "\(heading(name)): \(PlainText.line(description["summary"]?.stringValue ?? ""))\n"
        text += "\n\(heading("Call"))\n  \(example)\n"
        text += section("Options", description["options"], absent: "none are described: any JSON")
        text += section("Result", description["result"], absent: "not described: any JSON")
        if let progress = description["progress"], progress != .null {
            text += section("Progress", progress, absent: "any JSON")
        }
        text += events + interceptors
        return text + "\n\(heading("Provider"))\n  \(provider)\n"
    }

    private var name: String { PlainText.line(description["name"]?.stringValue ?? "?") }

    private func heading(_ text: String) -> String { isBold ? "\u{1B}[1m\(text)\u{1B}[0m" : text }

    /// A call in a shell, with optional members in brackets.
    private var example: String {
        let options = description["options"] ?? true
        let required = Set((options["required"]?.arrayValue ?? []).compactMap(\.stringValue).map { ExactText($0) })
        let members = (options["properties"]?.objectValue ?? [:]).map { key, _ in
            required.contains(ExactText(key)) ? "\(PlainText.line(key))=…" : "[\(PlainText.line(key))=…]"
        }
        return (["trestle call", name] + members).joined(separator: " ")
    }

    private func section(_ title: String, _ schema: JSON?, absent: String) -> String {
        let lines = SchemaPage.lines(schema ?? true)
        var text = "\n\(heading(title))\n"
        if lines.isEmpty {
            let isAnything = schema == nil || schema == true
            return text + "  \(isAnything ? absent : SchemaPage.words(schema ?? true))\n"
        }
        let names = lines.map { String(repeating: "  ", count: $0.depth) + PlainText.line($0.name) }
        let width = names.map(PlainText.width).max() ?? 0
        let wordWidth = lines.map { PlainText.width($0.words) }.filter { $0 <= Self.widestWords }.max() ?? 0
        for (name, line) in zip(names, lines) {
            let words = line.note.isEmpty ? line.words : PlainText.padded(line.words, to: wordWidth) + "  \(line.note)"
            text += "  \(PlainText.padded(name, to: width))  \(words)\n"
        }
        return text
    }

    /// Longer descriptions do not move the notes of other members.
    private static let widestWords = 40

    private var events: String {
        let events = description["events"]?.arrayValue ?? []
        guard !events.isEmpty else { return "" }
        let names = events.map { PlainText.line($0["name"]?.stringValue ?? "") }
        let width = names.map(PlainText.width).max() ?? 0
        return zip(names, events).reduce("\n\(heading("Events of the plugin"))\n") { text, event in
            let summary = PlainText.line(event.1["summary"]?.stringValue ?? "")
            return text + "  \(PlainText.padded(event.0, to: width))  \(summary)\n"
        }
    }

    private var interceptors: String {
        let interceptors = description["interceptors"]?.arrayValue ?? []
        guard !interceptors.isEmpty else { return "" }
        let names = interceptors.map { PlainText.line($0["name"]?.stringValue ?? "") }
        let width = names.map(PlainText.width).max() ?? 0
        return zip(names, interceptors).reduce("\n\(heading("Interceptors, in this order"))\n") { text, interceptor in
            let summary = PlainText.line(interceptor.1["summary"]?.stringValue ?? "")
            let plugin = PlainText.line(interceptor.1["plugin"]?.stringValue ?? "?")
            return text + "  \(PlainText.padded(interceptor.0, to: width))  \(summary) (the plugin \(plugin))\n"
        }
    }

    private var provider: String {
        var provider = PlainText.line(description["provider"]?.stringValue ?? "?")
        if let describer = description["describedBy"], let session = describer["session"]?.text,
            let uid = describer["uid"]?.text
        {
            provider += ", the session \(session) of uid \(uid), which describes it"
        }
        guard let permission = description["permission"]?.stringValue, permission != name else { return provider }
        return "\(provider); permission: \(PlainText.line(permission))"
    }
}
