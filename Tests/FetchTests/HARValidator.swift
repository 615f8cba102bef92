import TaskKit

/// The violations of the HAR specification 1.2 in a HAR (http://www.softwareishard.com/blog/har-12-spec).
struct HARValidator {
    private enum Kind {
        case string, number, object, array
    }

    private(set) var complaints: [String] = []

    init(_ har: JSON) {
        check(har, "$", [("log", .object)])
        let log = har["log"] ?? .null
        check(log, "$.log", [("version", .string), ("creator", .object), ("entries", .array)])
        if log["version"] != "1.2" { complaints.append("$.log.version is not 1.2") }
        check(log["creator"] ?? .null, "$.log.creator", [("name", .string), ("version", .string)])
        for (index, entry) in (log["entries"]?.arrayValue ?? []).enumerated() {
            checkEntry(entry, "$.log.entries[\(index)]")
        }
    }

    private mutating func checkEntry(_ entry: JSON, _ path: String) {
        check(
            entry, path,
            [
                ("startedDateTime", .string), ("time", .number), ("request", .object), ("response", .object),
                ("cache", .object), ("timings", .object),
            ])
        let date = entry["startedDateTime"]?.stringValue ?? ""
        if date.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) == nil {
            complaints.append("\(path).startedDateTime is \(date)")
        }
        checkRequest(entry["request"] ?? .null, "\(path).request")
        checkResponse(entry["response"] ?? .null, "\(path).response")
        let timings = entry["timings"] ?? .null
        check(timings, "\(path).timings", [("send", .number), ("wait", .number), ("receive", .number)])
        let sum = ["send", "wait", "receive"].compactMap { timings[$0]?.doubleValue }.reduce(0, +)
        if abs(sum - (entry["time"]?.doubleValue ?? -9)) > 1 { complaints.append("\(path).time is not \(sum)") }
    }

    private mutating func checkRequest(_ request: JSON, _ path: String) {
        check(
            request, path,
            [
                ("method", .string), ("url", .string), ("httpVersion", .string), ("cookies", .array),
                ("headers", .array), ("queryString", .array), ("headersSize", .number), ("bodySize", .number),
            ])
        checkPairs(request["headers"], "\(path).headers")
        checkPairs(request["queryString"], "\(path).queryString")
        if let data = request["postData"] {
            check(data, "\(path).postData", [("mimeType", .string), ("text", .string), ("params", .array)])
        }
    }

    private mutating func checkResponse(_ response: JSON, _ path: String) {
        check(
            response, path,
            [
                ("status", .number), ("statusText", .string), ("httpVersion", .string), ("cookies", .array),
                ("headers", .array), ("content", .object), ("redirectURL", .string), ("headersSize", .number),
                ("bodySize", .number),
            ])
        checkPairs(response["headers"], "\(path).headers")
        check(response["content"] ?? .null, "\(path).content", [("size", .number), ("mimeType", .string)])
    }

    private mutating func checkPairs(_ pairs: JSON?, _ path: String) {
        for (index, pair) in (pairs?.arrayValue ?? []).enumerated() {
            check(pair, "\(path)[\(index)]", [("name", .string), ("value", .string)])
        }
    }

    private mutating func check(_ json: JSON, _ path: String, _ members: [(String, Kind)]) {
        for (name, kind) in members {
            let isGood =
                switch (kind, json[name]) {
                case (.string, .string), (.number, .number), (.object, .object), (.array, .array): true
                default: false
                }
            if !isGood { complaints.append("\(path).\(name) is not there, or of another type") }
        }
    }
}
