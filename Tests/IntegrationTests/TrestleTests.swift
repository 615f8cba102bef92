import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("The command-line client", .blocking)
struct TrestleTests {
    @Test("calls a task with options as JSON, as pairs, from standard input, or without options")
    func call() throws {
        try withDaemon { daemon in
            let home = daemon.home
            let runs = try [
                (home.trestle("call", "Echo", #"{"a": [1, 2.50]}"#), #"{"a":[1,2.50]}"#),
                (
                    home.trestle("call", "Echo", "a=1", "b=two", "c.d=true", "e=[1]"),
                    #"{"a":1,"b":"two","c":{"d":true},"e":[1]}"#
                ),
                (home.trestle("call", "Echo", "-", input: "{\n \"from\": \"input\"\n}\n"), #"{"from":"input"}"#),
                (home.trestle("call", "Echo"), "{}"), (home.trestle("call", "Echo", #""text""#), #""text""#),
                (home.trestle("call", "Echo", #""a\nb""#, "--raw"), "a\nb"),
                (home.trestle("call", "Echo", "[1, 2]", "--raw"), "[1,2]"),
            ]
            for (run, output) in runs {
                #expect(run.end == .exited(0), "\(run.errors)")
                // In a pipe: one line of JSON.
                #expect(run.output == output + "\n")
                #expect(run.errors == "")
            }
        }
    }

    @Test("prints progress to standard error as it arrives, and the result to standard output")
    func progress() throws {
        try withDaemon { daemon in
            let run = try daemon.home.trestle("call", "counter.count", "3", "--progress")
            #expect(run.end == .exited(0))
            #expect(run.output == "3\n")
            #expect(run.errors == "1\n2\n")
        }
    }

    @Test("escapes control characters of progress, results and raw text on a terminal")
    func terminal() throws {
        try withDaemon { daemon in
            let provider = try daemon.connect()
            _ = try provider.result("bridge.register", ["tasks": ["odd"]])
            let hostile = "a\u{9B}31m\u{7F}\u{202E}b\u{2066}\u{200F}\u{61C}\u{1B}[2J"
            let shown = #"a\u009b31m\u007f\u202eb\u2066\u200f\u061c"#
            for arguments in [["--progress"], ["--progress", "--raw"]] {
                let terminal = try PseudoTerminal(rows: 24, columns: 200)
                let command = try terminal.run(
                    Paths.program("trestle"), ["--socket", daemon.home.socketPath, "call", "odd"] + arguments)
                let id = try provider.receive { $0["task"] == "odd" }["callbackId"]?.text ?? ""
                let value = JSON.string(hostile).text
                try provider.send(#"{"callbackId":\#(id),"progress":\#(value)}"#)
                try provider.send(#"{"callbackId":\#(id),"result":\#(value)}"#)
                #expect(try command.wait() == .exited(0))
                let text = terminal.rest()
                #expect(text.contains(shown), "\(text.debugDescription)")
                for scalar in hostile.unicodeScalars where !scalar.isASCII || scalar.value == 0x7F {
                    #expect(!text.unicodeScalars.contains(scalar), "\(arguments) \(scalar.escaped(asASCII: true))")
                }
                #expect(!text.contains("\u{1B}[2J"), "\(text.debugDescription)")
            }
            // Another program gets the text unchanged.
            let call = try Command(daemon.home, "call", "odd", "--raw")
            let id = try provider.receive { $0["task"] == "odd" }["callbackId"]?.text ?? ""
            try provider.send("{\"callbackId\":\(id),\"result\":\"\u{9B}\u{202E}\"}")
            #expect(try call.line() == "\u{9B}\u{202E}")
        }
    }

    @Test("reports a failed call in one line, and its kind by the exit status")
    func failures() throws {
        try withDaemon("limits.calls_in_flight = 1") { daemon in
            let provider = try daemon.connect()
            _ = try provider.result("bridge.register", ["tasks": ["slow", "busy"]])
            let command = try Command(daemon.home, "call", "busy")
            let busy: JSON = ["code": "busy", "message": "Not now.", "transient": true, "retryAfter": 1_500]
            try provider.send(["callbackId": provider.receive()["callbackId"] ?? nil, "error": busy])
            #expect(try command.process.wait() == .exited(75))
            #expect(command.errors.contains("Not now. (busy)"))
            let runs =
                try [
                    (daemon.home.trestle("call", "nobody"), 1, "there is no task nobody"),
                    (daemon.home.trestle("call", "slow", "--timeout", "20ms"), 124, "call.timeout"),
                    (daemon.home.trestle("call", "Echo", "{"), 64, "not valid JSON"),
                    (daemon.home.trestle("call"), 64, "trestle: required argument '<task>' is missing\n"),
                    (
                        daemon.home.trestle("status", "--shrt"), 64,
                        "trestle: unknown option '--shrt'; did you mean '--short'?\nUsage: trestle status "
                    ),
                    (daemon.home.trestle("call", "Echo", "x"), 64, "and 'x' is neither\nUsage: trestle call "),
                    (daemon.home.trestle("cal", "Echo"), 64, "unknown subcommand 'cal'; did you mean 'call'?"),
                    (
                        daemon.home.trestle("plugin", "lst"), 64,
                        "trestle: unknown subcommand 'lst'; did you mean 'list'?\nUsage: trestle plugin <subcommand>\n"
                            + "  See 'trestle plugin --help'"
                    ),
                    (daemon.home.trestle("frobnicate"), 64, "unknown subcommand 'frobnicate'\n"),
                    (
                        daemon.home.trestle("--json", "statsu"), 64,
                        "unknown subcommand 'statsu'; did you mean 'status'?"
                    ),
                    (
                        daemon.home.trestle("--quiet", "--timeout", "5", "statsu"), 64,
                        "unknown subcommand 'statsu'; did you mean 'status'?"
                    ),
                    (daemon.home.trestle("help", "nope"), 64, "unknown subcommand 'nope'"),
                    (
                        daemon.home.trestle("help", "plugin", "lst"), 64,
                        "unknown subcommand 'lst'; did you mean 'list'?"
                    ),
                    (daemon.home.trestle("call", "Ecko"), 1, "there is no task Ecko; did you mean 'Echo'?"),
                    (daemon.home.trestle("describe", "ecko"), 1, "there is no task ecko; did you mean 'Echo'?"),
                    (
                        daemon.home.trestle("plugin", "reload", "ecoh"), 1,
                        "there is no plugin ecoh; did you mean 'echo'?"
                    ),
                    (
                        daemon.home.trestle("call", "persistence.create", "tabel=notes", "record={}"), 1,
                        "unknown option 'tabel'; did you mean 'table'?"
                    ),
                    (
                        daemon.home.trestle("call", "persistence.create", "record={}"), 1,
                        "required option 'table' is missing"
                    ),
                    (
                        daemon.home.trestle("call", "Alert", "contnet=x"), 1,
                        "unknown option 'contnet'; did you mean 'content'?"
                    ),
                    (
                        daemon.home.trestle("call", "bridge.publish", "evnt=x"), 1,
                        "unknown option 'evnt'; did you mean 'event'?"
                    ),
                    (
                        daemon.home.trestle("call", "login.users.remove", "usr=x"), 1,
                        "unknown option 'usr'; did you mean 'user'?"
                    ),

                    (daemon.home.trestle("kill", "x"), 64, "x"),
                    (daemon.home.trestle("kill", "999999"), 1, "no call 999999 is in flight"),
                    (daemon.home.trestle("call", "Echo", "-", input: "{]"), 64, "JSON"),
                ] as [(ProgramRun, Int32, String)]
            for (run, status, reason) in runs {
                #expect(run.end == .exited(status), "\(run.errors)")
                #expect(run.output == "")
                #expect(run.errors.contains(reason), "\(run.errors)")
                if status != 64 { #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)") }
            }
        }
    }

    @Test("subscribe suggests the name of a similar event if no plugin declares one, and subscribes anyway")
    func unknownEvent() throws {
        try withDaemon { daemon in
            let command = try Command(daemon.home, "subscribe", "record.chnged", "made.up", "--count", "1")
            let deadline = Deadline()
            while !command.errors.contains("\n"), !deadline.isOver, !command.process.hasEnded(within: 5) {}
            #expect(
                command.errors
                    == "trestle: no plugin declares the event record.chnged; did you mean 'record.changed'?\n")
            _ = try daemon.connect().result("bridge.publish", ["event": "record.chnged", "data": 1])
            #expect(try command.line() == #"{"event":"record.chnged","data":1}"#)
            #expect(try command.process.wait() == .exited(0))
        }
    }

    @Test("lists and reports have a text form in a pipe, and both commands list the same plugins")
    func textForm() throws {
        try withDaemon { daemon in
            // The lag of a plugin process is unknown at first, and changes.
            func list(_ words: String...) throws -> String {
                try daemon.home.trestle(words).output.replacing(#/,"lagMs":[0-9]+/#, with: "")
            }
            let plugins = try list("plugins")
            #expect(try list("plugin", "list") == plugins)
            #expect(plugins.hasPrefix("{"))
            let table = try daemon.home.trestle("plugins", "--text").output
            func names(_ table: String) -> [Substring?] {
                table.split(separator: "\n").map { $0.split(separator: " ").first }
            }
            #expect(names(try daemon.home.trestle("plugin", "list", "--text").output) == names(table))
            #expect(table.hasPrefix("name "), "\(table)")
            #expect(table.contains("libEchoPlugin.so"))
            let report = try daemon.home.trestle("status", "--text").output
            #expect(report.hasPrefix("state "), "\(report)")
            let short = try daemon.home.trestle("status", "--short", "--text").output
            #expect(short.hasPrefix("state") && short.split(separator: "\n").count <= 10, "\(short)")
            #expect(report.contains("\nplugins\n") && !short.contains("echo"), "\(report)")
            #expect(try daemon.home.trestle("status", "--short").output.hasPrefix(#"{"state":"running","version":"#))
            #expect(try daemon.home.trestle("--text", "call", "Echo", #"{"a":[]}"#).output == "{\n  \"a\": []\n}\n")
            #expect(try daemon.home.trestle("explain", "Echo", "--text").output.hasPrefix("{") == false)
            for usage in [["tasks", "--json", "--text"], ["top", "--text"]] {
                #expect(try daemon.home.trestle(usage).end == .exited(64))
            }
            let old = try daemon.home.trestle("tasks", "--format", "table")
            #expect(old.end == .exited(64) && old.errors.contains("unknown option '--format'; use --json or --text"))
        }
    }

    @Test("reports an error as JSON with --json, with the same status")
    func errorsAsJSON() throws {
        try withDaemon { daemon in
            let unknown = try daemon.home.trestle("call", "Ecko", "--json")
            #expect(unknown.end == .exited(1) && unknown.output == "")
            let error = try JSON(parsing: unknown.errors)
            #expect(error["error"]?["code"] == "task.not_found")
            #expect(error["error"]?["message"]?.stringValue?.contains("Ecko") == true)
        }
        let absent = try DaemonHome().trestle("--json", "tasks")
        #expect(absent.end == .exited(69))
        #expect(try JSON(parsing: absent.errors)["error"]?["code"] == "daemon.unreachable")
    }

    @Test("exits with 69 and one line that names the socket if no daemon answers")
    func noDaemon() throws {
        let home = try DaemonHome()
        for command in [["call", "Echo"], ["tasks"], ["subscribe", "*"], ["register", "t", "--", "true"]] {
            let run = try run(Paths.program("trestle"), ["--socket", home.socketPath] + command)
            #expect(run.end == .exited(69))
            #expect(run.output == "")
            #expect(run.errors.hasPrefix("trestle: ") && run.errors.contains(home.socketPath), "\(run.errors)")
            #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
        }
    }

    @Test("finds the daemon by TRESTLE_SOCKET, and by --socket also after the subcommand")
    func socket() throws {
        try withDaemon { daemon in
            let path = daemon.home.socketPath
            let program = Paths.program("trestle")
            let byVariable = try run(program, ["call", "Echo", "1"], environment: ["TRESTLE_SOCKET=\(path)"])
            #expect(byVariable.output == "1\n")
            let byFlag = try run(
                program, ["call", "Echo", "2", "--socket", path], environment: ["TRESTLE_SOCKET=/nowhere"])
            #expect(byFlag.output == "2\n")
        }
    }

    @Test("prints one JSON object per line in a pipe")
    func lists() throws {
        try withDaemon { daemon in
            let commands: [(arguments: String, member: String, value: JSON)] = [
                ("tasks", "name", "Echo"), ("plugins", "name", "echo"), ("sessions", "client", "trestle"),
                ("calls", "task", "bridge.calls"),
            ]
            for (command, member, value) in commands {
                let run = try daemon.home.trestle(command)
                #expect(run.end == .exited(0), "\(run.errors)")
                let entries = try run.output.split(separator: "\n").map { try JSON(parsing: String($0)) }
                #expect(entries.contains { $0[member] == value }, "\(run.output)")
            }
        }
    }

    @Test("prints the descriptions of all tasks as one document")
    func allTasks() throws {
        try withDaemon { daemon in
            let tasks = try JSON(parsing: daemon.home.trestle("tasks", "--schemas").output).arrayValue
            let create = tasks?.first { $0["name"] == "persistence.create" }
            #expect(create?["options"]?["properties"]?["table"]?["type"] == "string")
            #expect(create?["plugin"] == "persistence")
        }
    }

    @Test("completes names of tasks and keys of options from the running daemon, and nothing without one")
    func completions() throws {
        try withDaemon { daemon in
            let socket = daemon.home.socketPath
            func complete(_ argument: String, _ words: String...) throws -> [String] {
                let arguments =
                    ["---completion", "call", "--", "positional@\(argument)", "\(words.count - 1)", "0"] + words
                return try run(Paths.program("trestle"), arguments).output.split(separator: "\n").map(String.init)
            }
            #expect(try complete("0", "trestle", "--socket", socket, "call", "").contains("persistence.create"))
            let options = try complete("1", "trestle", "--socket", socket, "call", "persistence.create", "")
            #expect(options.contains("table="), "\(options)")
            #expect(try complete("0", "trestle", "--socket", "/nowhere", "call", "") == [])
        }
    }

    @Test("describes a task and reports the status of the daemon")
    func reports() throws {
        try withDaemon { daemon in
            let description = try JSON(parsing: daemon.home.trestle("describe", "persistence.create").output)
            #expect(description["name"] == "persistence.create")
            #expect(description["options"]?["properties"]?["table"]?["type"] == "string")
            let status = try JSON(parsing: daemon.home.trestle("status").output)
            #expect(status["pid"]?.int64Value == Int64(daemon.pid))
        }
    }
}
