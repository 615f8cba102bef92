import BridgeJSON
import Glibc
import Logging

/// Formats a log entry as a JSON object on one line: `time`, `level`, `message`, and `fields` if there are any.
enum JSONLine {
    /// Returns the line, with its line feed.
    static func bytes(_ record: LogRecord) -> [UInt8] {
        var line: JSONObject = [
            "time": .string(timestamp(record.time)), "level": .string(record.level.rawValue),
            "message": .string(record.message),
        ]
        if !record.fields.isEmpty {
            var fields: JSONObject = [:]
            for (name, value) in record.fields { fields[name] = json(value) }
            line["fields"] = .object(fields)
        }
        return Array((VisibleText.json(JSON.object(line).text) + "\n").utf8)
    }

    /// Formats a time by RFC 3339 in UTC, with microseconds.
    static func timestamp(_ time: timespec) -> String {
        var seconds = time.tv_sec
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let whole = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            guard let start = buffer.baseAddress, strftime(start, buffer.count, "%Y-%m-%dT%H:%M:%S", &parts) > 0 else {
                return ""
            }
            return String(cString: start)
        }
        let microseconds = String(time.tv_nsec / 1_000)
        return "\(whole).\(String(repeating: "0", count: max(0, 6 - microseconds.count)))\(microseconds)Z"
    }

    private static func json(_ value: Logger.MetadataValue) -> JSON {
        switch value {
        case .string(let text): .string(text)
        case .stringConvertible(let value): number(value) ?? .string("\(value)")
        case .array(let values): .array(values.map(json))
        case .dictionary(let values):
            .object(values.sorted { $0.key < $1.key }.reduce(into: [:]) { $0[$1.key] = json($1.value) })
        }
    }

    private static func number(_ value: any CustomStringConvertible) -> JSON? {
        (value as? any BinaryInteger).map { .number(JSONNumber($0)) }
    }
}
