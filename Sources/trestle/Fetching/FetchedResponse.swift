import BridgeJSON

/// A response, from the result of `http.fetch`.
struct FetchedResponse {
    static let task = "http.fetch"

    let result: JSON

    init(_ result: JSON) { self.result = result }

    var status: Int64 { result["status"]?.int64Value ?? 0 }
    /// Whether the status is an error.
    var isFailure: Bool { status >= 400 }
    /// The status and the reason phrase, such as "404 Not Found"; HTTP/2 has no reason phrase.
    var statusText: String {
        let reason = result["reason"]?.stringValue ?? ""
        return "\(status)" + (reason.isEmpty ? "" : " \(reason)")
    }

    /// The name of the body's stream; `nil` if there is none.
    var stream: String? { result["body"]?["stream"]?.stringValue }

    /// The result without the body and the HAR.
    var head: JSON {
        var head = result.objectValue ?? [:]
        head["body"] = nil
        head["har"] = nil
        return .object(head)
    }

    /// Returns redirects, status, headers and the source, each on a line, followed by an empty line.
    func text(colour: Bool) -> String {
        var lines: [String] = []
        for redirect in result["redirects"]?.arrayValue ?? [] {
            let status = styled(redirect["status"]?.text ?? "", "33", colour)
            lines.append("\(status) \(PlainText.line(redirect["url"]?.stringValue ?? ""))")
        }
        // Empty if the response is neither from the network nor from the cache.
        let version = PlainText.line(result["protocol"]?.stringValue ?? "")
        let status = styled(PlainText.line(statusText), statusStyle, colour)
        lines.append(version.isEmpty ? status : "\(version) \(status)")
        for header in result["headers"]?.arrayValue ?? [] {
            guard let pair = header.arrayValue, pair.count == 2 else { continue }
            let (name, value) = (pair[0].stringValue ?? "", pair[1].stringValue ?? "")
            lines.append("\(styled(PlainText.line(name), "1", colour)): \(PlainText.line(value))")
        }
        lines.append(source(colour))
        return lines.map { "\($0)\n" }.joined() + "\n"
    }

    private var statusStyle: String {
        switch status {
        case ..<300: "32;1"
        case ..<400: "33;1"
        default: "31;1"
        }
    }

    /// Returns the source, such as "(from cache, stale, 12 s old)".
    private func source(_ colour: Bool) -> String {
        var parts = ["from \(PlainText.line(result["from"]?.stringValue ?? "?"))"]
        let cache = result["cache"]
        if let state = cache?["state"]?.stringValue {
            let style = ["fresh": "32", "revalidated": "32", "stale": "33"][state] ?? "0"
            parts.append(styled(PlainText.line(state), style, colour))
        }
        if let age = cache?["age"]?.int64Value { parts.append("\(HumanDuration.text(.seconds(age))) old") }
        return "(\(parts.joined(separator: ", ")))"
    }

    private func styled(_ text: String, _ style: String, _ colour: Bool) -> String {
        colour ? "\u{1B}[\(style)m\(text)\u{1B}[0m" : text
    }

    /// Returns the state of a request, from the progress of its call.
    static func progressText(_ progress: JSON) -> String {
        let phase = PlainText.line(progress["phase"]?.stringValue ?? "waiting")
        let sent = progress["sent"]?.int64Value ?? 0
        return "\(phase) …" + (sent > 0 ? ", \(ByteCount.text(sent)) sent" : "")
    }
}
