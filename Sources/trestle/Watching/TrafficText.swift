import BridgeJSON
import Glibc

/// A line of traffic for people.
enum TrafficText {
    static func line(_ traffic: JSON, colour: Bool) -> String {
        let kind = traffic["kind"]?.stringValue ?? ""
        if kind == "lost" {
            let text = "\(traffic["count"]?.text ?? "some") lines were lost: they arrived faster than they were read"
            return styled(text, "33", colour)
        }
        var parts = [time(traffic["wallMs"]?.int64Value), styled(PlainText.padded(kind, to: 8), "1", colour)]
        if let call = traffic["call"] { parts.append("#\(call.text)") }
        if let name = (traffic["task"] ?? traffic["event"])?.stringValue { parts.append(PlainText.line(name)) }
        parts += details(traffic)
        if let error = traffic["error"] { parts.append(styled(failure(error), "31", colour)) }
        for member in ["options", "progress", "result", "data"] {
            if let payload = traffic[member] { parts.append(text(payload, bytes: traffic[member + "Bytes"])) }
        }
        return parts.joined(separator: "  ")
    }

    private static func details(_ traffic: JSON) -> [String] {
        var parts: [String] = []
        if let session = traffic["session"] {
            parts.append("session \(session.text) uid \(traffic["uid"]?.text ?? "?")")
        }
        let plugin = traffic["plugin"]?.stringValue.map(PlainText.line)
        if let interceptor = traffic["interceptor"]?.stringValue {
            parts.append("\(PlainText.line(interceptor)) of \(plugin ?? "?")")
        } else if let plugin {
            parts.append("by \(plugin)")
        }
        if let decision = traffic["decision"]?.stringValue { parts.append(PlainText.line(decision)) }
        if let target = traffic["target"]?.stringValue { parts.append("to \(PlainText.line(target))") }
        if let target = traffic["to"] { parts.append("to session \(target.text)") }
        if let receivers = traffic["receivers"] { parts.append("to \(receivers.text) sessions") }
        if let took = traffic["durationUs"]?.int64Value { parts.append(HumanDuration.text(.microseconds(took))) }
        return parts
    }

    private static func failure(_ error: JSON) -> String {
        guard let code = error["code"]?.stringValue else { return text(error, bytes: nil) }
        return "\(code): \(error["message"]?.stringValue ?? "")"
    }

    /// Returns the text of a payload. A shortened payload is a string that ends in an ellipsis, and the traffic
    /// contains its full length.
    private static func text(_ payload: JSON, bytes: JSON?) -> String {
        guard let bytes = bytes?.int64Value, let beginning = payload.stringValue else {
            return PlainText.line(payload.text)
        }
        return "\(PlainText.line(beginning)) (\(HumanBytes.text(bytes)))"
    }

    private static func styled(_ text: String, _ style: String, _ colour: Bool) -> String {
        let text = PlainText.line(text)
        return colour ? "\u{1B}[\(style)m\(text)\u{1B}[0m" : text
    }

    /// Returns the local time of day with milliseconds.
    private static func time(_ milliseconds: Int64?) -> String {
        guard let milliseconds else { return "--:--:--.---" }
        var seconds = time_t(milliseconds / 1_000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        func digits(_ number: some BinaryInteger, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { digits($0, 2) }.joined(separator: ":")
        return "\(clock).\(digits(milliseconds % 1_000, 3))"
    }
}
