import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("trestle plugin check", .blocking)
struct PluginCheckCommandTests {
    private static let hostile = Paths.package + "/Tests/HostilePlugins"

    private func trestle(_ arguments: [String], environment: [String] = []) throws -> ProgramRun {
        try run(Paths.program("trestle"), arguments, environment: environment)
    }

    private func compile(_ name: String, in folder: TemporaryFolder) throws -> String {
        let library = folder.file("lib\(name)Plugin.so")
        let made = try run("/usr/bin/make", ["-s", "-C", Self.hostile + "/libraries", "OUT=\(folder.path)", library])
        guard made.end == .exited(0) else { throw TestFailure("\(name) cannot be built: \(made.errors)") }
        return library
    }

    @Test(
        "reports no failure for valid plugins, isolated and in the daemon's process",
        arguments: ["Counter", "Echo", "Alert"])
    func good(_ name: String) throws {
        let (names, run) = try checkFailures(Paths.program("lib\(name)Plugin.so"), "--call-all")
        #expect(names == [], "\(run.output)")
        #expect(run.output.contains(#""isolation":"process""#) && run.output.contains(#""isolation":"none""#))
        #expect(run.errors.contains(" 0 failed"))
    }

    @Test(
        "accepts the project folder of `plugin new` by any path, and builds it first",
        arguments: ["c", "python", "sh"])
    func projects(_ language: String) throws {
        let folder = try TemporaryFolder()
        let program = Paths.program("trestle")
        let check = """
            cd "$1" && "$0" plugin new greet --language "$2" >/dev/null
            "$0" plugin check greet --call 'greet={"who": "World"}'
            cd greet && "$0" plugin check . --call 'greet={"who": "World"}'
            """
        let checked = try run("/bin/sh", ["-ec", check, program, folder.path, language])
        #expect(checked.end == .exited(0), "\(checked.output)\(checked.errors)")
        // The output of the build is not mixed with the findings.
        let checks = try checked.output.split(separator: "\n").map { try JSON(parsing: String($0))["check"] }
        #expect(checks.filter { $0 == "once" }.count >= 2, "\(checked.output)")
        #expect(checked.errors.contains("Building: make"))
    }

    @Test("reports a folder whose build fails, or that contains nothing to build")
    func unbuilt() throws {
        let folder = try TemporaryFolder()
        let empty = try run(Paths.program("trestle"), ["plugin", "check", folder.path])
        #expect(empty.end == .exited(64) && empty.errors.contains("trestle plugin new"), "\(empty.errors)")
        try folder.write("all:\n\tfalse\n", to: "Makefile")
        let broken = try run(Paths.program("trestle"), ["plugin", "check", folder.path])
        #expect(broken.end == .exited(1))
        #expect(broken.errors.contains("\(folder.path) cannot be checked: the build failed (exit status 2)"))
        try folder.write("all:\n", to: "Makefile")
        let nothing = try run(Paths.program("trestle"), ["plugin", "check", folder.path])
        #expect(nothing.end == .exited(1) && nothing.errors.contains("--plugin"), "\(nothing.errors)")
    }

    @Test("accepts options for tasks that require particular options")
    func options() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(#"{"path": "/"}"#, to: "options.json")
        let sysinfo = Paths.program("libSysinfoPlugin.so")
        let (names, run) = try checkFailures(sysinfo, "--call", "sysinfo.disk=@\(file)", "--call", "sysinfo.load")
        #expect(names == [], "\(run.output)")
        #expect(try checkFailures(sysinfo, "--call", "sysinfo.disk").names == ["sysinfo.disk call"])
    }

    @Test(
        "finds the faults of a plugin process",
        arguments: [
            ("never-answers", ["hostile.never-answers call"]),
            ("answers-twice", ["hostile.answers-twice once"]),
            ("ignores-cancel", ["hostile.ignores-cancel call", "hostile.ignores-cancel cancel", "stop"]),
            ("never-stops", ["stop"]),
            ("crash-at-load", ["load"]),
            ("crash-at-start", ["load"]),
            ("crash-in-call", ["hostile.crash-in-call call", "crash"]),
            ("crash-at-stop", ["stop"]),
            ("garbage-hello", ["load"]),
            ("wrong-version", ["load"]),
        ])
    func hostilePluginProcesses(_ name: String, _ expected: [String]) throws {
        let (names, run) = try checkFailures("\(Self.hostile)/\(name).plugin.toml", "--call-all")
        #expect(names == expected, "\(run.output)")
    }

    @Test(
        "finds the faults of a library",
        arguments: [
            ("AnswersTwice", ["hostile.AnswersTwice once"]), ("BadJSON", ["hostile.BadJSON call"]),
            ("NeverAnswers", ["hostile.NeverAnswers call"]), ("WrongABI", ["load"]), ("CrashInEntry", ["load"]),
        ])
    func hostileLibraries(_ name: String, _ expected: [String]) throws {
        let folder = try TemporaryFolder()
        let (names, run) = try checkFailures(try compile(name, in: folder), "--call-all")
        #expect(names == expected, "\(run.output)")
    }

    @Test("finds output of a library to standard output")
    func output() throws {
        let folder = try TemporaryFolder()
        let library = try PluginInC(
            call: #"puts("to whom?"); host->reply(host, request->call, text("1"));"#, definitions: "#include <stdio.h>"
        )
        .build(in: folder)
        let (names, run) = try checkFailures(library, "--call-all")
        #expect(names == ["output"], "\(run.output)")
        #expect(run.output.contains("to whom?"))
    }

    @Test("finds results and progress that violate their schemas, and a task that accepts invalid options")
    func schemas() throws {
        let folder = try TemporaryFolder()
        var process = PluginInPython()
        process.call = """
            if m.get("progress"): say({"callbackId": id, "progress": "half"})
            say({"callbackId": id, "result": "seven"})
            """
        // Only plugin.describe returns the schema of the options, so the task must check them itself. It does not.
        process.hello = """
            {"tasks": [{"name": "specimen", "summary": "A specimen.", "result": {"type": "integer"},
                        "progress": {"type": "number"}},
                       {"name": "specimen.good", "summary": "Answers with its options."}]}
            """
        try process.write(to: folder)
        let manifest = folder.file("specimen.plugin.toml")
        try folder.write("command = [\"./specimen.py\"]\n", to: "specimen.plugin.toml")
        let script = contents(of: folder.file("specimen.py")).replacing(
            #"elif task == "plugin.ping""#,
            with: """
                elif task == "plugin.describe":
                        say({"callbackId": id, "result": {"tasks": [{"options": {"type": "object", "required": ["a"]}}, {}]}})
                    elif task == "plugin.ping"
                """)
        try folder.write(script, to: "specimen.py")
        let (names, run) = try checkFailures(manifest, "--call", #"specimen={"a": 1}"#)
        #expect(names == ["specimen options", "specimen progress", "specimen result"], "\(run.output)")
        #expect(run.output.contains("seven"))
    }

    @Test("calls only the named tasks, and others only with options that their schemas refuse")
    func callsNothing() throws {
        let folder = try TemporaryFolder()
        var process = PluginInPython()
        process.call = #"open("\#(folder.file("called"))", "a").close(); say({"callbackId": id, "result": 1})"#
        try process.write(to: folder)
        let (names, run) = try checkFailures(folder.file("specimen.plugin.toml"))
        #expect(names == [] && run.output.contains("--call"), "\(run.output)")
        #expect(!exists(folder.file("called")))
        #expect(try checkFailures(folder.file("specimen.plugin.toml"), "--call", "specimen").names == [])
        #expect(exists(folder.file("called")))
        #expect(try checkFailures(folder.file("specimen.plugin.toml"), "--call", "speciman").names == ["speciman call"])
    }

    @Test("passes the plugin its section of the given configuration")
    func configuration() throws {
        let folder = try TemporaryFolder()
        let good = try folder.write("[plugins.alert]\npresenters = [\"log\"]\n", to: "good.toml")
        let bad = try folder.write("[plugins.alert]\npresenter = [\"log\"]\n", to: "bad.toml")
        let alert = Paths.program("libAlertPlugin.so")
        #expect(try checkFailures(alert, "--config", good).names == [])
        let (names, run) = try checkFailures(alert, "--config", bad)
        #expect(names == ["load"] && run.output.contains("presenter"), "\(run.output)")
    }

    @Test("reports a file that is missing or is not a plugin")
    func noPlugin() throws {
        let folder = try TemporaryFolder()
        let missing = try trestle(["plugin", "check", folder.file("nothing.so")])
        #expect(missing.end == .exited(1) && missing.errors.contains("nothing.so"))
        let text = try folder.write("no library", to: "libTextPlugin.so")
        #expect(try checkFailures(text).names == ["load"])
    }

    @Test("leaves no process when it is interrupted")
    func interrupted() throws {
        let folder = try TemporaryFolder()
        var process = PluginInPython()
        process.call = #"open("\#(folder.file("called"))", "a").close()"#
        try process.write(to: folder)
        let output = folder.file("output")
        let check = try SpawnedProcess(
            Paths.program("trestle"),
            ["plugin", "check", folder.file("specimen.plugin.toml"), "--call", "specimen", "--timeout", "60"],
            output: .file(output), errors: .file(output))
        let deadline = Deadline()
        while !exists(folder.file("called")) {
            guard !deadline.isOver, !check.hasEnded(within: 5) else { throw TestFailure(contents(of: output)) }
        }
        let daemons = try children(of: check.pid)
        #expect(daemons.count == 1)
        check.signal(SIGINT)
        #expect(try check.wait() == .exited(130))
        for daemon in daemons { #expect(kill(daemon, 0) != 0) }
    }

    @Test("leaves no daemon when it is killed")
    func killed() throws {
        let folder = try TemporaryFolder()
        var process = PluginInPython()
        process.call = #"open("\#(folder.file("called"))", "a").close()"#
        try process.write(to: folder)
        let check = try SpawnedProcess(
            Paths.program("trestle"),
            ["plugin", "check", folder.file("specimen.plugin.toml"), "--call", "specimen", "--timeout", "60"])
        let deadline = Deadline()
        while !exists(folder.file("called")) {
            guard !deadline.isOver, !check.hasEnded(within: 5) else { throw TestFailure("it does not call") }
        }
        let daemons = try children(of: check.pid)
        #expect(daemons.count == 1)
        check.signal(SIGKILL)
        _ = try check.wait()
        for daemon in daemons {
            try awaitEnd(of: daemon)
        }
    }
}
