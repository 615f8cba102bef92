internal import BridgeJSON

/// The lines for a page that the container writes or examines.
enum PageLine {
    /// The line that reports to the shim that the session was lost: no message of the bridge begins so.
    static let lost = Array("!lost\n".utf8)

    /// Returns the line with the handlers that a document has from now on.
    static func handlers(_ handlers: [PageHandler]) -> [UInt8] {
        Array("!handlers \(PageHandler.json(handlers).text)\n".utf8)
    }

    /// The beginning of the event with which the daemon closes a session.
    private static let close = Array("{\"event\":\"web.close\"".utf8)

    /// Returns the answers to a page's line that is not delivered: one for each call that waits for an answer.
    static func answers(to line: [UInt8], code: String, message: String) -> [UInt8] {
        guard line.count <= PageSessionLimits.answeredLineBytes, let json = try? JSON(parsing: line) else { return [] }
        return (json.arrayValue ?? [json]).flatMap { item -> [UInt8] in
            guard item["task"] != nil, let id = item["callbackId"] else { return [] }
            let answer: JSON = ["callbackId": id, "error": ["code": .string(code), "message": .string(message)]]
            return Array(answer.text.utf8) + [0x0A]
        }
    }

    /// Whether the last line is the daemon's `web.close`, which ends a session.
    static func containsClose(_ lines: [UInt8]) -> Bool {
        guard lines.last == 0x0A else { return false }
        let start = LineEnds.last(in: lines.dropLast()).map { $0 + 1 } ?? 0
        return lines[start...].starts(with: close)
    }
}
