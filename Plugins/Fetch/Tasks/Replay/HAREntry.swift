import Glibc
import HTTPRules
import TaskKit

/// A request and its response as an entry of HAR 1.2.
struct HAREntry: Sendable {
    /// A recorded body: a file that is named after the hash of its bytes.
    struct Body: Sendable {
        var sha256: String
        var byteCount: Int64
        /// The number of bytes as received from the server.
        var wireBytes: Int64
    }

    /// The text that replaces a secret.
    static let mask = "(masked)"
    /// An unknown length.
    private static let unknown = JSON.number(JSONNumber(-1))

    var hop: Hop
    var head: ResponseHead
    /// `nil` if the body is not stored.
    var body: Body?
    var from: String
    /// The time when the request began, the duration until its response began, and the duration of the response's body.
    var begin: timespec
    var wait: Duration
    var receive: Duration

    /// Returns a HAR with these entries.
    ///
    /// - Parameter omitted: The number of entries that did not fit.
    static func log(_ entries: [JSON], omitted: Int) -> JSON {
        var log: JSONObject = [
            "version": "1.2", "creator": ["name": "Trestle", "version": .string(FetchSettings.version)],
            "entries": .array(entries),
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
            // Bodies of requests are not stored, because they may contain passwords.
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

    /// Returns the fields, without the values of fields that hold secrets.
    private static func fields(_ headers: HeaderList) -> JSON {
        .array(
            headers.map { field in
                ["name": .string(field.name), "value": .string(Redirects.isSecret(field.name) ? mask : field.value)]
            })
    }

    private static func milliseconds(_ duration: Duration) -> JSON { .number(JSONNumber(duration.wholeMilliseconds)) }

    /// Returns a time in ISO 8601, in UTC.
    private static func date(_ time: timespec) -> String {
        var (seconds, parts) = (time.tv_sec, tm())
        gmtime_r(&seconds, &parts)
        let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { buffer in
            // `!`: the buffer is not empty.
            let count = strftime(buffer.baseAddress!, buffer.count, "%Y-%m-%dT%H:%M:%S", &parts)
            return String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        let fraction = String(time.tv_nsec / 1_000_000 + 1000).dropFirst()
        return "\(text).\(fraction)Z"
    }
}

extension timespec {
    /// The current wall-clock time.
    static var wall: timespec {
        var time = timespec()
        // Cannot fail: the clock exists, and the address is valid.
        clock_gettime(CLOCK_REALTIME, &time)
        return time
    }
}
