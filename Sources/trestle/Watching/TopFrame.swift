import BridgeJSON

/// One frame of `trestle top`, with at most as many lines and columns as the terminal.
enum TopFrame {
    /// Returns the lines of a frame.
    ///
    /// - Parameter rates: The object from `TopRates`.
    static func lines(_ rates: JSON, rows: Int, columns: Int, bold: (String) -> String) -> [String] {
        var lines = head(rates).map { PlainText.cut($0, to: columns) }
        let tasks = table(rates["tasks"], taskColumns, columns)
        let sessions = table(rates["sessions"], sessionColumns, columns)
        // Two lines for the blank lines above the tables. Sessions get a third, or the room that the tasks do not need.
        let room = max(0, rows - lines.count - 2)
        let share = min(sessions.count, max(room / 3, room - tasks.count))
        // A heading without rows is useless.
        let sessionRoom = share > 1 ? share : 0
        for (table, count) in [(tasks, room - sessionRoom), (sessions, sessionRoom)] {
            guard let heading = table.first, count > 1 else { continue }
            lines.append("")
            lines.append(bold(heading))
            lines += table.dropFirst().prefix(count - 1)
        }
        return Array(lines.prefix(rows))
    }

    private static func head(_ rates: JSON) -> [String] {
        func text(_ member: String) -> String { Cell.text(rates[member], key: member) }
        func size(_ member: String) -> String {
            rates[member]?.doubleValue.map { HumanBytes.text(Int64(clamping: $0)) + "/s" } ?? "-"
        }
        let longTurns = rates["longTurns"]?["count"]?.int64Value ?? 0
        let long = longTurns > 0 ? "   long turns \(longTurns)" : ""
        let state = rates["draining"]?.boolValue == true ? "   stopping" : ""
        return [
            "trestled \(text("version"))   up \(text("uptimeMs"))   lag \(text("loopLagUs"))\(long)\(state)   (q "
                + "quits)",
            "calls \(text("callsPerSecond"))/s   errors \(text("errorsPerSecond"))/s   "
                + "refused \(text("refusedCallsPerSecond"))/s   invalid \(text("invalidMessagesPerSecond"))/s",
            "in flight \(text("callsInFlight"))   waiting \(text("waitingCalls"))   "
                + "sessions \(text("sessionCount"))   events queued \(text("queuedEvents")), "
                + "lost \(text("droppedEventsPerSecond"))/s",
            "in \(size("receivedBytesPerSecond"))   out \(size("sentBytesPerSecond"))   "
                + "unread \(text("queuedBytes"))",
        ]
    }

    private typealias Column = (title: String, member: String)

    // The suffix of a title specifies the format of the figures; see `Cell`.
    private static let taskColumns: [Column] = [
        ("task", "name"), ("calls/s", "callsPerSecond"), ("errors/s", "errorsPerSecond"), ("in flight", "inFlight"),
        ("p50Us", "p50Us"), ("p99Us", "p99Us"), ("calls", "calls"), ("errors", "errors"),
    ]
    private static let sessionColumns: [Column] = [
        ("session", "session"), ("client", "client"), ("uid", "uid"), ("pid", "pid"), ("calls/s", "callsPerSecond"),
        ("in/s Bytes", "receivedBytesPerSecond"), ("out/s Bytes", "sentBytesPerSecond"), ("in flight", "inFlight"),
        ("unread Bytes", "queuedBytes"),
    ]

    /// Returns the lines of a table, beginning with the heading; empty if there are no rows.
    private static func table(_ rows: JSON?, _ columns: [Column], _ width: Int) -> [String] {
        let rows = (rows?.arrayValue ?? []).map { row -> JSON in
            var object = JSONObject()
            for (title, member) in columns {
                // Sizes are shown without the fractions of rates.
                let value = row[member]
                let isSize = title.hasSuffix("Bytes")
                object[title] = isSize ? value?.doubleValue.map { .number(JSONNumber(Int64(clamping: $0))) } : value
            }
            return .object(object)
        }
        return Table(rows, first: columns.map(\.title)).text(bold: false, columns: width).split(separator: "\n")
            .map(String.init)
    }
}
