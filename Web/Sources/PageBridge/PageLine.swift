internal import BridgeJSON

/// Lines for a page that the container writes or looks at.
enum PageLine {
    /// Reports to the shim that the session is lost: no message of the bridge begins so.
    static let lost = Array("!lost\n".utf8)

    /// The handlers that a document has from now on.
    static func handlers(_ handlers: [PageHandler]) -> [UInt8] {
        Array("!handlers \(PageHandler.json(handlers).text)\n".utf8)
    }

    /// How the event begins by which the daemon closes a session.
    private static let close = Array("{\"event\":\"web.close\"".utf8)

    /// The answers to what a page sent and nobody gets: one for each call that waits for one.
    static func answers(to line: [UInt8], code: String, message: String) -> [UInt8] {
        guard line.count <= PageSessionLimits.answeredLineBytes, let json = try? JSON(parsing: line) else { return [] }
        return (json.arrayValue ?? [json]).flatMap { item -> [UInt8] in
            guard item["task"] != nil, let id = item["callbackId"] else { return [] }
            let answer: JSON = ["callbackId": id, "error": ["code": .string(code), "message": .string(message)]]
            return Array(answer.text.utf8) + [0x0A]
        }
    }

    /// Whether one of the lines is the daemon's `web.close`, which is the last of a session.
    static func containsClose(_ lines: [UInt8]) -> Bool {
        guard lines.last == 0x0A else { return false }
        let start = LineEnds.last(in: lines.dropLast()).map { $0 + 1 } ?? 0
        return lines[start...].starts(with: close)
    }
}
