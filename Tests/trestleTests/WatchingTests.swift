import BridgeJSON
import Testing

@testable import trestle

@Suite struct HumanBytesTests {
    @Test(
        "A byte count is shown in its largest unit",
        arguments: [
            (-1, "0 B"), (0, "0 B"), (1_023, "1023 B"), (1_024, "1 KiB"), (1_536, "1.5 KiB"), (204_800, "200 KiB"),
            (1_048_575, "1023 KiB"), (5_767_168, "5.5 MiB"), (.max, "7.9 EiB"),
        ] as [(Int64, String)])
    func text(bytes: Int64, expected: String) { #expect(HumanBytes.text(bytes) == expected) }
}

@Suite struct StatusReportTests {
    @Test("Plugins' metrics are shown in readable units")
    func metrics() {
        func metric(_ value: JSON, _ unit: JSON) -> JSON {
            ["plugin": "p", "name": "n", "kind": "gauge", "value": value, "unit": unit, "help": "h"]
        }
        let status: JSON = [
            "metrics": [
                metric(2_048, "bytes"), metric(0.25, "seconds"), metric(3, nil), metric(nil, nil), metric(1, "ratio"),
            ]
        ]
        let values = StatusReport.readable(status)["metrics"]?.arrayValue?.map { $0["value"] }
        #expect(values == ["2 KiB", "250 ms", "3", "-", "1 ratio"])
        #expect(StatusReport.readable([1]) == [1])
    }
}

@Suite struct StatusOrderTests {
    private let status: JSON = [
        "version": "1.0", "pid": 3, "uptimeMs": 2_000, "loopLagUs": 5, "longTurns": ["count": 0], "draining": false,
        "sessions": 1, "callsInFlight": 1, "refusedCalls": 0, "launch": [["name": "one"]],
        "plugins": [["name": "echo", "state": "running"], ["name": "scan", "state": "failed"]],
        "tasks": [["name": "Echo"]],
    ]

    @Test("The whole report begins with the state and the main figures, then the plugins and the tasks")
    func order() {
        let keys = StatusReport.whole(status).objectValue?.keys ?? []
        #expect(
            keys == [
                "state", "version", "uptimeMs", "sessions", "callsInFlight", "loopLagUs", "refusedCalls", "pid",
                "draining", "plugins", "tasks", "longTurns", "launch",
            ])
        #expect(StatusReport.whole([1]) == [1])
    }

    @Test("The state names plugins that do not run; the short report has only the summary")
    func short() {
        let report = StatusReport.short(status)
        #expect(report["state"] == "running; 1 of 2 plugins not running: scan (failed)")
        #expect(
            report.objectValue?.keys == [
                "state", "version", "uptimeMs", "sessions", "callsInFlight", "loopLagUs", "refusedCalls",
            ])
        #expect(StatusReport.short(["draining": true])["state"] == "stopping")
        #expect(StatusReport.short(["plugins": [["name": "a", "state": "running"]]])["state"] == "running")
    }
}

@Suite struct TopTests {
    private func reading(uptime: Int, tasks: [JSON], sessions: [JSON]) -> TopReading {
        TopReading(
            status: [
                "version": "1.0", "uptimeMs": .number(JSONNumber(uptime)), "loopLagUs": 1_500, "sessions": 2,
                "callsInFlight": 3, "waitingCalls": 0, "queuedBytes": 2_048, "queuedEvents": 0, "droppedEvents": 4,
                "refusedCalls": .number(JSONNumber(uptime / 500)), "invalidMessages": .number(JSONNumber(uptime / 200)),
                "tasks": .array(tasks),
            ], sessions: ["sessions": .array(sessions)])
    }

    private func task(_ name: JSON, _ calls: JSON, errors: JSON = 0) -> JSON {
        ["name": name, "calls": calls, "errors": errors, "inFlight": 1, "p50Us": 40, "p99Us": 2_000]
    }

    private func session(_ number: JSON, _ received: JSON, client: JSON = "app") -> JSON {
        ["session": number, "client": client, "calls": 10, "receivedBytes": received, "sentBytes": 0, "inFlight": 0]
    }

    private var rates: JSON {
        TopRates(
            reading(uptime: 1_000, tasks: [task("a", 100), task("b", 5), task("gone", 9)], sessions: [session(1, 0)]),
            reading(
                uptime: 3_000, tasks: [task("a", 101), task("b", 25, errors: 3), task("new", 40)],
                sessions: [session(1, 1_000), session(2, 9_000)])
        ).json
    }

    @Test("Rates are the differences of two readings over the daemon's elapsed time, most calls first")
    func readings() {
        #expect(rates["intervalMs"] == 2_000)
        #expect(rates["tasks"]?.arrayValue?.map { $0["name"] } == ["new", "b", "a"])
        #expect(rates["tasks"]?.arrayValue?.map { $0["callsPerSecond"] } == [20, 10, 0.5])
        #expect(rates["tasks"]?[1]?["errorsPerSecond"] == 1.5)
        #expect(rates["callsPerSecond"] == 30.5)
        #expect(rates["sessions"]?.arrayValue?.map { $0["session"] } == [2, 1])
        #expect(rates["sessions"]?[0]?["receivedBytesPerSecond"] == 4_500)
        #expect(rates["receivedBytesPerSecond"] == 5_000)
        #expect(rates["droppedEventsPerSecond"] == 0)
        #expect(rates["refusedCallsPerSecond"] == 2)
        #expect(rates["invalidMessagesPerSecond"] == 5)
        #expect(rates["sessionCount"] == 2)
    }

    @Test("The first line shows the number of long turns of the loop, if there were any")
    func longTurns() {
        var after = reading(uptime: 3_000, tasks: [], sessions: [])
        func first() -> String { TopFrame.lines(TopRates(after, after).json, rows: 9, columns: 100) { $0 }[0] }
        var status = after.status.objectValue ?? [:]
        for (count, shown) in [(0, "lag 1.5 ms   (q quits)"), (3, "lag 1.5 ms   long turns 3   (q quits)")] {
            status["longTurns"] = ["count": .number(JSONNumber(count)), "longestUs": 41_000, "steps": []]
            after.status = .object(status)
            #expect(first().hasSuffix(shown))
        }
    }

    @Test(
        "A counter that restarted counts from 0; one reading has no rates; missing members are accepted"
    )
    func edges() {
        let before = reading(uptime: 1_000, tasks: [task("a", 100)], sessions: [])
        let after = reading(uptime: 2_000, tasks: [task("a", 30)], sessions: [])
        #expect(TopRates(before, after).json["tasks"]?[0]?["callsPerSecond"] == 30)
        let first = TopRates(before, before).json
        #expect(first["tasks"]?[0]?["callsPerSecond"] == .null)
        #expect(first["callsPerSecond"] == .null)
        let nothing = TopReading(status: [:], sessions: nil)
        #expect(TopRates(nothing, nothing).json["tasks"] == [])
        #expect(TopFrame.lines([:], rows: 24, columns: 80) { $0 }.count == 4)
    }

    @Test(
        "A frame fills the terminal and never exceeds it", arguments: [1, 2, 4, 5, 8, 24, 60],
        [1, 20, 80, 200])
    func sizes(rows: Int, columns: Int) {
        let many = reading(
            uptime: 2_000, tasks: (0..<50).map { task(.string("task.\($0)"), .number(JSONNumber($0))) },
            sessions: (0..<50).map { session(.number(JSONNumber($0)), 5, client: "弹窗\u{1B}[2J") })
        let lines = TopFrame.lines(TopRates(many, many).json, rows: rows, columns: columns) { $0 }
        #expect(lines.count <= rows)
        #expect(rows < 8 || lines.count >= rows - 1)
        #expect(lines.allSatisfy { PlainText.width($0) <= columns && !$0.contains("\u{1B}") })
    }

    @Test("A frame shows totals, tasks and sessions in readable units")
    func picture() {
        let lines = TopFrame.lines(rates, rows: 24, columns: 100) { "*" + $0 }
        #expect(
            lines == [
                "trestled 1.0   up 3 s   lag 1.5 ms   (q quits)",
                "calls 30.5/s   errors 1.5/s   refused 2/s   invalid 5/s",
                "in flight 3   waiting 0   sessions 2   events queued 0, lost 0/s",
                "in 4.8 KiB/s   out 0 B/s   unread 2 KiB", "",
                "*task  calls/s  errors/s  in flight    p50   p99  calls  errors",
                "new        20         0          1  40 µs  2 ms     40       0",
                "b          10       1.5          1  40 µs  2 ms     25       3",
                "a         0.5         0          1  40 µs  2 ms    101       0", "",
                "*session  client  calls/s     in/s  out/s  in flight",
                "      2  app           5  4.3 KiB    0 B          0",
                "      1  app           0    500 B    0 B          0",
            ])
    }
}

@Suite struct TrafficTextTests {
    private func line(_ traffic: JSON) -> String { TrafficText.line(traffic, colour: false) }

    /// Returns the line after the time of day, which depends on the time zone of the test.
    private func rest(_ traffic: JSON) -> Substring { line(traffic).dropFirst("00:00:00.000".count) }

    @Test("A line shows the time, the kind, the call, the caller, the duration and the payload")
    func lines() {
        #expect(
            rest([
                "kind": "call", "wallMs": 1_700_000_000_123, "call": 7, "task": "Echo", "session": 3, "uid": 0,
                "options": ["a": 1],
            ]) == #"  call      #7  Echo  session 3 uid 0  {"a":1}"#)
        #expect(
            rest([
                "kind": "callback", "wallMs": 5, "call": 7, "task": "Echo", "durationUs": 1_500, "result": "abc…",
                "resultBytes": 4_096,
            ]) == "  callback  #7  Echo  1.5 ms  abc… (4 KiB)")
        #expect(
            rest([
                "kind": "callback", "wallMs": 5, "call": 8, "task": "x",
                "error": ["code": "a.b", "message": "No.\u{1B}[2J"],
            ]) == "  callback  #8  x  a.b: No.\u{FFFD}[2J")
        #expect(
            rest(["kind": "event", "wallMs": 5, "event": "door.opened", "receivers": 2, "data": nil])
                == "  event     door.opened  to 2 sessions  null")
        #expect(
            rest(["kind": "forward", "wallMs": 5, "call": 1, "task": "x", "to": 4]) == "  forward   #1  x  to session 4"
        )
        #expect(
            rest([
                "kind": "decision", "wallMs": 5, "call": 1, "task": "x", "interceptor": "a.b", "plugin": "a",
                "decision": "redirect", "target": "y", "durationUs": 20, "options": [1],
            ]) == "  decision  #1  x  a.b of a  redirect  to y  20 µs  [1]")
        #expect(line(["kind": "lost", "count": 12]).hasPrefix("12 lines were lost"))
        #expect(line(["kind": "call", "wallMs": 123]).wholeMatch(of: #/\d\d:\d\d:\d\d\.123  call    /#) != nil)
    }

    @Test("No control character of a payload reaches the terminal, and unusual lines are accepted")
    func hostile() {
        for traffic in [
            [:], 5, nil, ["kind": "\u{1B}c", "task": "\u{9B}2J"],
            ["kind": "call", "options": "\u{202E}x", "error": "y"],
            ["kind": "callback", "result": "a\u{7}", "resultBytes": 9],
        ] as [JSON] {
            #expect(!line(traffic).unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) })
        }
    }
}
