import ArgumentParser
import BridgeClient
import BridgeJSON
import Testing

@testable import trestle

@Suite struct TableTests {
    @Test("Columns are aligned, the named ones first; columns without values are omitted")
    func aligned() {
        let rows: [JSON] = [
            ["uid": 1000, "name": "a", "user": nil, "list": []],
            ["name": "longer", "uid": 0, "extra": ["x", "y"]],
        ]
        #expect(
            Table(rows, first: ["name", "missing"]).text(bold: false) == """
                name     uid  extra
                a       1000  -
                longer     0  x, y

                """)
    }

    @Test("Durations are converted from the unit in the member's name")
    func durations() {
        let rows: [JSON] = [["ageMs": 1_500, "p50Us": 40, "Ms": 3, "ms": 4, "nameMs": "text"]]
        #expect(
            Table(rows, first: []).text(bold: false) == """
                  age    p50  Ms  ms  name
                1.5 s  40 µs   3   4  text

                """)
    }

    @Test("Wide characters take two columns, control characters are replaced, and nothing is cut without a limit")
    func hostile() {
        let rows: [JSON] = [
            ["a": "弹窗", "b": "x"],
            ["a": "\u{1B}[2Jé", "b": .string(String(repeating: "y", count: 100)), "c": "\u{9B}\n"],
        ]
        #expect(
            Table(rows, first: []).text(bold: false) == """
                a      b\(String(repeating: " ", count: 99))  c
                弹窗   x\(String(repeating: " ", count: 99))  -
                \u{FFFD}[2Jé  \(String(repeating: "y", count: 100))  \u{FFFD}

                """)
    }

    @Test("A table fits the terminal: text is shortened first, numbers never, then the last columns are omitted")
    func fitted() {
        let rows: [JSON] = [
            ["name": "persistence.create", "calls": 123_456, "summary": .string(String(repeating: "y", count: 60))]
        ]
        func text(_ columns: Int) -> String { Table(rows, first: []).text(bold: false, columns: columns) }
        let rest = String(repeating: "y", count: 19)
        #expect(
            text(48) == """
                name                 calls  summary
                persistence.create  123456  \(rest)…

                """)
        #expect(
            text(32) == """
                name           calls  summary
                persistence…  123456  yyyyyyyyy…

                """)
        #expect(text(26) == "name                 calls\npersistence.create  123456\n")
        #expect(text(20) == "name           calls\npersistence…  123456\n")
        #expect(text(18) == "name\npersistence.create\n")
        for columns in [0, 1, 5, 30, 60, 100, 200] {
            #expect(
                text(columns).split(separator: "\n").allSatisfy { PlainText.width(String($0)) <= max(1, columns) })
        }
        #expect(text(200) == Table(rows, first: []).text(bold: false))
    }

    @Test("A number without room is omitted, and the first column stays readable")
    func numbers() {
        let path = "/usr/local/lib/trestle/local-plugins/Persistence/libPersistencePlugin.so"
        let rows: [JSON] = [
            [
                "name": "persistence", "version": "0.1.0", "isolation": "process", "state": "running",
                "path": .string(path), "tasks": 18, "calls": 1_234_567, "restarts": 0, "pid": 27_847,
            ]
        ]
        let table = Table(rows, first: [])
        for columns in 0...200 {
            let lines = table.text(bold: false, columns: columns).split(separator: "\n").map(String.init)
            #expect(lines.allSatisfy { PlainText.width($0) <= max(1, columns) }, "\(columns): \(lines)")
            let words = lines.last?.split(separator: " ").map(String.init) ?? []
            for word in words where word.first?.isNumber == true && word != "0.1.0" && !word.hasSuffix("…") {
                #expect(["18", "1234567", "0", "27847"].contains(word), "\(columns): \(word)")
            }
            #expect(!words.dropFirst(4).contains { $0.first?.isNumber == true && $0.hasSuffix("…") }, "\(columns)")
            if columns >= 11 { #expect(words.first == "persistence", "\(columns)") }
        }
        let narrow = table.text(bold: false, columns: 80)
        #expect(
            narrow.hasPrefix("name         version  isolation  state    path          tasks    calls  restarts\n"),
            "\(narrow)")
        #expect(!narrow.contains("pid") && !narrow.contains(" 2…"))
        #expect(Table([["pid": 27_847]], first: []).text(bold: false, columns: 4) == "…\n…\n")
    }

    @Test("An empty list has no output; entries that are not objects are accepted")
    func odd() {
        #expect(Table([], first: ["name"]).text(bold: false) == "")
        #expect(Table([1, nil, "x"], first: ["name"]).text(bold: true) == "\u{1B}[1m\u{1B}[0m\n\n\n\n")
    }
}

@Suite struct ReportTests {
    @Test("A report shows the plain members, tables and other values of an object")
    func report() {
        let status: JSON = [
            "version": "1.0", "uptimeMs": 200_000, "draining": false, "nothing": nil, "names": ["a", "b"], "none": [],
            "launch": [["phase": "x", "name": "one"]], "schema": ["type": "object"],
        ]
        #expect(
            Report.text(status, colour: false) == """
                version   1.0
                uptime    3 min 20 s
                draining  no
                nothing   -
                names     a, b

                launch
                  name  phase
                  one   x

                schema
                  {
                    "type": "object"
                  }

                """)
        #expect(Report.text(5, colour: false) == "")
    }
}

@Suite struct HumanDurationTests {
    @Test(
        "A duration is shown in its one or two largest units",
        arguments: [
            (0, "0 s"), (999, "999 ns"), (1_000, "1 µs"), (1_250, "1.2 µs"), (850_000, "850 µs"),
            (12_345_678, "12.3 ms"), (999_999_999, "999 ms"), (1_000_000_000, "1 s"), (4_560_000_000, "4.5 s"),
            (200_000_000_000, "3 min 20 s"), (3_600_000_000_000, "1 h"), (7_500_000_000_000, "2 h 5 min"),
            (273_600_000_000_000, "3 d 4 h"), (-5, "0 s"),
        ])
    func text(nanoseconds: Int64, expected: String) {
        #expect(HumanDuration.text(.nanoseconds(nanoseconds)) == expected)
    }
}

@Suite struct FailureTests {
    @Test("Each kind of error has its exit code")
    func exitCodes() {
        let codes = [
            BridgeError("x.y", "m"), BridgeError(.busy, "m", isTransient: true),
            BridgeError(.callTimeout, "m", isTransient: true), BridgeError(.daemonUnreachable, "m", isTransient: true),
        ].map { Failure.exitCode($0).rawValue }
        #expect(codes == [1, 75, 124, 69])
    }

    @Test("An error is one sentence that suggests what to do")
    func sentences() {
        #expect(
            Failure.sentence(BridgeError(.daemonUnreachable, "no daemon at /s: gone"))
                == "no daemon at /s: gone: start it with trestled, or name its socket with --socket")
        #expect(
            Failure.sentence(BridgeError(.connectionDenied, "the socket /s may not be opened"))
                == "the socket /s may not be opened; name another with --socket")
        #expect(
            Failure.sentence(BridgeError(.busy, "too many", isTransient: true, retryAfter: .seconds(2)))
                == "too many (busy); try again after 2 s")
    }
}

@Suite struct ByteCountTests {
    @Test("Numbers of bytes are shown in the unit that fits")
    func text() {
        let known: [(Int64, String)] = [
            (0, "0 bytes"), (1_023, "1023 bytes"), (1_024, "1 KiB"), (1_536, "1.5 KiB"), (262_144, "256 KiB"),
            (1 << 20, "1 MiB"), (340 << 20, "340 MiB"), (5 << 30, "5 GiB"), (3 << 40, "3 TiB"),
        ]
        for (bytes, text) in known { #expect(ByteCount.text(bytes) == text) }
    }
}

@Suite struct SocketLocationTests {
    private let system = "/run/trestle/bridge.sock"

    private func path(
        _ variables: [String: String] = [:], there: [String] = [], uid: UInt32 = 1_000, owner: UInt32? = nil
    ) -> String {
        SocketLocation(
            variable: { variables[$0] }, exists: there.contains, uid: uid,
            owner: { $0 == "/tmp/trestle-\(uid)" ? owner : nil }
        ).path
    }

    @Test("The socket is the named one, else the user's own, else the system's")
    func order() {
        let own = "/run/user/1000/trestle/bridge.sock"
        let runtime = ["XDG_RUNTIME_DIR": "/run/user/1000"]
        #expect(path(runtime.merging(["TRESTLE_SOCKET": "/mine"]) { $1 }, there: [system, own]) == "/mine")
        #expect(path(runtime.merging(["TRESTLE_SOCKET": ""]) { $1 }, there: [system, own]) == own)
        #expect(path(runtime, there: [system]) == system)
        // If no socket exists, the path is that of the user's own daemon.
        #expect(path(runtime) == own)
        #expect(path(["XDG_RUNTIME_DIR": "/run/user/0"], there: ["/run/user/0/trestle/bridge.sock"], uid: 0) == system)
    }

    @Test("Without a runtime directory the socket is in /tmp, if the user owns the directory")
    func withoutRuntimeDirectory() {
        #expect(path(owner: 1_000) == "/tmp/trestle-1000/bridge.sock")
        // Another user's directory of that name is a trap.
        #expect(path(owner: 66) == system)
        #expect(path() == system)
    }

    @Test("The socket of a systemd unit leads to that unit if systemd runs; any other socket leads to none")
    func units() {
        func command(_ path: String, isBooted: Bool = true) -> String? {
            let location = SocketLocation(
                variable: { $0 == "XDG_RUNTIME_DIR" ? "/run/user/1000" : nil }, exists: { _ in true }, uid: 1_000,
                owner: { _ in 1_000 })
            let error = BridgeError(.daemonUnreachable, "no daemon", data: ["path": .string(path)])
            return ServiceUnit(serving: error, location: location, isBooted: isBooted)?.status(of: "socket")
        }
        #expect(command(system) == "systemctl status trestle.socket")
        #expect(command("/run/user/1000/trestle/bridge.sock") == "systemctl --user status trestle.socket")
        #expect(command("/tmp/trestle-1000/bridge.sock") == nil)
        #expect(command(system, isBooted: false) == nil)
    }
}

@Suite struct ExplainTextTests {
    @Test("A decision is shown with its rule and the clients that it admits")
    func report() {
        let rule = "default: it is public for root, uid 998 and the group trestle; no rule allows it for others"
        let answer: JSON = [
            "allowed": false, "verb": "call", "name": "Alert", "public": true, "rule": .string(rule), "who": "uid 1001",
            "permission": "Alert", "known": true, "admitted": ["uid 0", "uid 998", "group trestle"],
        ]
        #expect(
            ExplainText.report(answer) == """
                uid 1001 may not call Alert
                rule:       \(rule)
                admits:     uid 0; uid 998; group trestle

                """)
        #expect(ExplainText.report(["admitted": []]).contains("admits:     no user\n"))
    }
}
