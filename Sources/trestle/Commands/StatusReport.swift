import BridgeJSON

/// The result of `bridge.status` as a report that begins with the most important figures.
enum StatusReport {
    /// The figures of the summary, in this order, after the state.
    private static let summary = [
        "version", "uptimeMs", "sessions", "callsInFlight", "waitingCalls", "loopLagUs", "invalidMessages",
        "refusedCalls", "droppedEvents",
    ]
    /// The lists that follow the other figures, before all other lists.
    private static let tables = ["plugins", "tasks", "interceptors", "metrics"]

    /// Returns the whole status: the summary first, then the other figures, then the lists.
    static func whole(_ status: JSON) -> JSON {
        guard let all = readable(status).objectValue else { return status }
        var report = summarized(status, all)
        for (key, value) in all where report[key] == nil && !tables.contains(key) && !isList(value) {
            report[key] = value
        }
        for (key, value) in members(tables, of: all) + Array(all) where report[key] == nil { report[key] = value }
        return .object(report)
    }

    /// Returns only the summary.
    static func short(_ status: JSON) -> JSON {
        guard let all = status.objectValue else { return status }
        return .object(summarized(status, all))
    }

    private static func summarized(_ status: JSON, _ all: JSONObject) -> JSONObject {
        var report: JSONObject = ["state": .string(state(status))]
        for (key, value) in members(summary, of: all) { report[key] = value }
        return report
    }

    /// Describes the state in a few words: whether the daemon serves, and which plugins are not running.
    private static func state(_ status: JSON) -> String {
        let plugins = status["plugins"]?.arrayValue ?? []
        let other = plugins.filter { $0["state"] != "running" }
        let state = status["draining"]?.boolValue == true ? "stopping" : "running"
        guard !other.isEmpty else { return state }
        let named = other.map { "\($0["name"]?.stringValue ?? "?") (\($0["state"]?.stringValue ?? "?"))" }
        return "\(state); \(other.count) of \(plugins.count) plugins not running: \(named.joined(separator: ", "))"
    }

    private static func members(_ keys: [String], of object: JSONObject) -> JSONObject {
        var found = JSONObject()
        for key in keys { if let value = object[key] { found[key] = value } }
        return found
    }

    private static func isList(_ value: JSON) -> Bool { value.objectValue != nil || value.arrayValue != nil }

    /// Returns the status with the figures of plugins in human-readable units.
    static func readable(_ status: JSON) -> JSON {
        guard var report = status.objectValue, let metrics = report["metrics"]?.arrayValue else { return status }
        report["metrics"] = .array(
            metrics.map { metric in
                [
                    "plugin": metric["plugin"] ?? nil, "name": metric["name"] ?? nil,
                    "value": .string(value(of: metric)), "help": metric["help"] ?? nil,
                ]
            })
        return .object(report)
    }

    private static func value(of metric: JSON) -> String {
        guard let value = metric["value"]?.doubleValue else { return "-" }
        switch metric["unit"]?.stringValue {
        case "bytes": return HumanBytes.text(Int64(clamping: value))
        case "seconds": return HumanDuration.text(.seconds(value))
        case let unit: return (metric["value"]?.text ?? "") + (unit.map { " " + $0 } ?? "")
        }
    }
}

extension Int64 {
    /// The nearest representable integer.
    init(clamping value: Double) {
        self = Int64(exactly: value.rounded()) ?? (value > 0 ? .max : .min)
    }
}
