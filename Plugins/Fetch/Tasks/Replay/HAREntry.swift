import Glibc
import HTTPRules
import TaskKit

/// A request and its response, as HAR 1.2 has them.
struct HAREntry: Sendable {
    /// What a recorded body is: bytes in a file that is named after their hash.
    struct Body: Sendable {
        var sha256: String
        var byteCount: Int64
        /// As they came from the server.
        var wireBytes: Int64
    }

    /// What stands in the place of a secret.
    static let mask = "(masked)"
    /// A length that is not known.
    private static let unknown = JSON.number(JSONNumber(-1))

    var hop: Hop
    var head: ResponseHead
    /// Nil: it is not kept.
    var body: Body?
    var from: String
    /// When the request began, and how long it took until the response did, and its body was over.
    var begin: timespec
    var wait: Duration
    var receive: Duration

    /// A HAR of these entries.
    ///
    /// - Parameter omitted: How many there is no room for.
    static func log(_ entries: [JSON], omitted: Int) -> JSON {
        var log: JSONObject = [
            "version": "1.2", "creator": ["name": "Trestle", "version": "1"], "entries": .array(entries),
        ]
        if omitted > 0 { log["comment"] = .string("\(omitted) entries are left out: they are too long") }
        return ["log": .object(log)]
    }

    var json: JSON {
        [
            "startedDateTime": .string(Self.date(begin)), "time": Self.milliseconds(wait + receive),
            "request": request, "response": response, "cache": [:],
            "timings": ["send": 0, "wait": Self.milliseconds(wait), "receive": Self.milliseconds(receive)],
            "_from": .string(from),
        ]
    }

    private var request: JSON {
        var request: JSONObject = [
            "method": .string(hop.method), "url": .string(hop.url.text), "httpVersion": .string(version), "cookies": [],
            "headers": Self.fields(hop.headers), "queryString": query, "headersSize": Self.unknown,
            "bodySize": .number(JSONNumber(hop.body.map { $0.byteCount ?? -1 } ?? 0)),
        ]
        if let body = hop.body {
            // Bodies of requests are not kept: they are where passwords are.
            request["postData"] = ["mimeType": .string(body.type ?? ""), "text": "", "params": []]
        }
        return .object(request)
    }

    private var content: JSON {
        var content: JSONObject = [
            "size": body.map { .number(JSONNumber($0.byteCount)) } ?? Self.unknown,
            "mimeType": .string(head.headers.first(named: "Content-Type") ?? ""),
        ]
        content["_file"] = body.map { .string("\(RecordingFolder.bodies)/\($0.sha256)") }
        return .object(content)
    }

    private var response: JSON {
        [
            "status": .number(JSONNumber(head.status)), "statusText": .string(head.reason),
            "httpVersion": .string(version), "cookies": [], "headers": Self.fields(head.headers),
            "content": content,
            "redirectURL": .string(head.headers.first(named: "Location") ?? ""), "headersSize": Self.unknown,
            "bodySize": body.map { .number(JSONNumber($0.wireBytes)) } ?? Self.unknown,
        ]
    }

    private var version: String { head.version.isEmpty ? "unknown" : head.version }

    private var query: JSON {
        let pairs = (hop.url.query ?? "").split(separator: "&")
        return .array(
            pairs.map { pair in
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return ["name": .string(String(parts[0])), "value": .string(parts.count > 1 ? String(parts[1]) : "")]
            })
    }

    /// The fields, without the values of those that hold secrets.
    private static func fields(_ headers: HeaderList) -> JSON {
        .array(
            headers.map { field in
                ["name": .string(field.name), "value": .string(Redirects.isSecret(field.name) ? mask : field.value)]
            })
    }

    private static func milliseconds(_ duration: Duration) -> JSON { .number(JSONNumber(duration.wholeMilliseconds)) }

    /// A moment as ISO 8601 has it, in UTC.
    private static func date(_ time: timespec) -> String {
        var (seconds, parts) = (time.tv_sec, tm())
        gmtime_r(&seconds, &parts)
        let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { buffer in
            // `!`: the room is not empty.
            let count = strftime(buffer.baseAddress!, buffer.count, "%Y-%m-%dT%H:%M:%S", &parts)
            return String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        let fraction = String(time.tv_nsec / 1_000_000 + 1000).dropFirst()
        return "\(text).\(fraction)Z"
    }
}

extension timespec {
    /// Now, by the clock on the wall.
    static var wall: timespec {
        var time = timespec()
        // Cannot fail: the clock exists, and the address is ours.
        clock_gettime(CLOCK_REALTIME, &time)
        return time
    }
}
