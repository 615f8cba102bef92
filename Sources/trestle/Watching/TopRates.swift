import BridgeJSON

/// The daemon's answers at one moment.
struct TopReading: Sendable {
    /// The result of `bridge.status`.
    var status: JSON
    /// The result of `bridge.sessions`.
    var sessions: JSON
}

/// The changes between two readings per second. The daemon's own clock determines the interval.
struct TopRates {
    private let before: TopReading
    private let after: TopReading
    /// Zero for the first reading, which is compared with itself and has no rates.
    private let milliseconds: Int64

    init(_ before: TopReading, _ after: TopReading) {
        self.before = before
        self.after = after
        let (start, end) = (before.status["uptimeMs"]?.int64Value, after.status["uptimeMs"]?.int64Value)
        milliseconds = max(0, (end ?? 0) - (start ?? 0))
    }

    /// All values, as one object.
    var json: JSON {
        let tasks = self.tasks
        let sessions = self.sessions
        var object: JSONObject = ["intervalMs": .number(JSONNumber(milliseconds))]
        for member in Self.plainMembers { object[member] = after.status[member] ?? .null }
        object["sessionCount"] = after.status["sessions"] ?? .null
        object["callsPerSecond"] = Self.sum(tasks, "callsPerSecond")
        object["errorsPerSecond"] = Self.sum(tasks, "errorsPerSecond")
        object["refusedCallsPerSecond"] = rate("refusedCalls", before.status, after.status)
        object["invalidMessagesPerSecond"] = rate("invalidMessages", before.status, after.status)
        object["droppedEventsPerSecond"] = rate("droppedEvents", before.status, after.status)
        object["receivedBytesPerSecond"] = Self.sum(sessions, "receivedBytesPerSecond")
        object["sentBytesPerSecond"] = Self.sum(sessions, "sentBytesPerSecond")
        object["tasks"] = .array(tasks)
        object["sessions"] = .array(sessions)
        return .object(object)
    }

    private static let plainMembers = [
        "version", "uptimeMs", "loopLagUs", "longTurns", "draining", "callsInFlight", "waitingCalls", "queuedBytes",
        "queuedEvents",
    ]

    /// The tasks, those with the most calls first.
    private var tasks: [JSON] {
        rows("tasks", key: "name", before.status, after.status, counters: ["calls", "errors"])
            .sorted { Self.precedes($0, $1, by: [["callsPerSecond"], ["calls"]], name: "name") }
    }

    /// The sessions, those with the most traffic first.
    private var sessions: [JSON] {
        rows(
            "sessions", key: "session", before.sessions, after.sessions,
            counters: ["calls", "receivedBytes", "sentBytes"]
        )
        .sorted {
            Self.precedes(
                $0, $1, by: [["receivedBytesPerSecond", "sentBytesPerSecond"], ["receivedBytes", "sentBytes"]],
                name: "session")
        }
    }

    /// Returns the rows of a list, with a rate for each counter. A new row counts from 0.
    private func rows(_ list: String, key: String, _ before: JSON, _ after: JSON, counters: [String]) -> [JSON] {
        let known = Dictionary(
            (before[list]?.arrayValue ?? []).map { ($0[key] ?? .null, $0) }, uniquingKeysWith: { first, _ in first })
        return (after[list]?.arrayValue ?? []).compactMap { row in
            guard var object = row.objectValue else { return nil }
            let earlier = known[row[key] ?? .null] ?? .null
            for counter in counters { object[counter + "PerSecond"] = rate(counter, earlier, row) }
            return .object(object)
        }
    }

    private func rate(_ counter: String, _ before: JSON, _ after: JSON) -> JSON {
        guard milliseconds > 0, let now = after[counter]?.int64Value else { return .null }
        let then = before[counter]?.int64Value ?? 0
        // A counter that has decreased was restarted.
        let grown = Double(now < then ? now : now - then)
        return Self.number(grown / (Double(milliseconds) / 1_000))
    }

    private static func sum(_ rows: [JSON], _ member: String) -> JSON {
        let values = rows.compactMap { $0[member]?.doubleValue }
        return values.isEmpty && !rows.isEmpty ? .null : number(values.reduce(0, +))
    }

    /// Returns a number with one decimal digit, if that is not 0.
    private static func number(_ value: Double) -> JSON {
        let rounded = (value * 10).rounded() / 10
        return (Int64(exactly: rounded).map { JSONNumber($0) } ?? JSONNumber(rounded)).map(JSON.number) ?? .null
    }

    private static func precedes(_ left: JSON, _ right: JSON, by keys: [[String]], name: String) -> Bool {
        for members in keys {
            func total(_ row: JSON) -> Double { members.reduce(0) { $0 + (row[$1]?.doubleValue ?? 0) } }
            let (first, second) = (total(left), total(right))
            if first != second { return first > second }
        }
        if let first = left[name]?.int64Value, let second = right[name]?.int64Value { return first < second }
        return left[name]?.stringValue ?? "" < right[name]?.stringValue ?? ""
    }
}
