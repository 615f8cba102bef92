import BridgeJSON
import Glibc
import Testing

@Suite("trestle plugin", .blocking(within: .seconds(300)))
struct PluginCommandTests {
    private static let hostile = Place.package + "/Tests/HostilePlugins"

    private func trestle(_ arguments: [String], environment: [String] = []) throws -> ProgramRun {
        try run(Place.program("trestle"), arguments, environment: environment)
    }

    /// Checks a plugin; what failed, each as "TASK CHECK" or "CHECK", in their order.
    private func failures(_ path: String, _ arguments: String...) throws -> (names: [String], run: ProgramRun) {
        let run = try trestle(["plugin", "check", path, "--patience", "500ms"] + arguments)
        let lines = try run.output.split(separator: "\n").map { try JSON(parsing: String($0)) }
        let failed = lines.filter { $0["outcome"] == "failed" }
        for line in failed { #expect((line["says"]?.stringValue ?? "").count > 20, "\(line)") }
        let names = failed.map { line in
            [line["task"]?.stringValue, line["check"]?.stringValue].compactMap { $0 }.joined(separator: " ")
        }
        #expect(run.end == .exited(names.isEmpty ? 0 : 1), "\(run.output)\(run.errors)")
        return (names, run)
    }

    private func compile(_ name: String, in folder: TemporaryFolder) throws -> String {
        let library = folder.file("lib\(name)Plugin.so")
        let made = try run("/usr/bin/make", ["-s", "-C", Self.hostile + "/libraries", "OUT=\(folder.path)", library])
        guard made.end == .exited(0) else { throw Failure("\(name) cannot be built: \(made.errors)") }
        return library
    }

    // MARK: new

    @Test("new fills the folder that one is in where it is empty", arguments: [".", "./", "../empty"])
    func newHere(_ directory: String) throws {
        let folder = try TemporaryFolder()
        let command = """
            new() { "$2" plugin new greet --language sh --directory "$3"; }
            mkdir "$1/empty" && cd "$1/empty" && new "$@" && test -x greet.sh && ! new "$@"
            """
        let made = try run("/bin/sh", ["-c", command, "sh", folder.path, Place.program("trestle"), directory])
        #expect(made.end == .exited(0), "\(made.errors)")
        #expect(made.errors.contains("is not empty"))
        #expect(exists(folder.file("empty/greet.plugin.toml")))
    }

    // MARK: check

    @Test(
        "check finds nothing wrong with plugins that are good, in either place",
        arguments: ["Counter", "Echo", "Alert"])
    func good(_ name: String) throws {
        let (names, run) = try failures(Place.program("lib\(name)Plugin.so"), "--call-all")
        #expect(names == [], "\(run.output)")
        #expect(run.output.contains(#""place":"isolated""#) && run.output.contains(#""place":"in-process""#))
        #expect(run.errors.contains(" 0 failed"))
    }

    @Test("check takes options for tasks that cannot be called with just any")
    func options() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(#"{"path": "/"}"#, to: "options.json")
        let sysinfo = Place.program("libSysinfoPlugin.so")
        let (names, run) = try failures(sysinfo, "--call", "sysinfo.disk=@\(file)", "--call", "sysinfo.load")
        #expect(names == [], "\(run.output)")
        #expect(try failures(sysinfo, "--call", "sysinfo.disk").names == ["sysinfo.disk call"])
    }

    @Test(
        "check finds what is wrong with a worker",
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
    func hostileWorkers(_ name: String, _ expected: [String]) throws {
        let (names, run) = try failures("\(Self.hostile)/\(name).plugin.toml", "--call-all")
        #expect(names == expected, "\(run.output)")
    }

    @Test(
        "check finds what is wrong with a library",
        arguments: [
            ("AnswersTwice", ["hostile.AnswersTwice once"]), ("BadJSON", ["hostile.BadJSON call"]),
            ("NeverAnswers", ["hostile.NeverAnswers call"]), ("WrongABI", ["load"]), ("CrashInEntry", ["load"]),
        ])
    func hostileLibraries(_ name: String, _ expected: [String]) throws {
        let folder = try TemporaryFolder()
        let (names, run) = try failures(try compile(name, in: folder), "--call-all")
        #expect(names == expected, "\(run.output)")
    }

    @Test("check finds what a library prints, though it comes to nothing where the library has a process of its own")
    func output() throws {
        let folder = try TemporaryFolder()
        let library = try PluginInC(
            call: #"puts("to whom?"); host->reply(host, request->call, text("1"));"#, definitions: "#include <stdio.h>"
        )
        .build(in: folder)
        let (names, run) = try failures(library, "--call-all")
        #expect(names == ["output"], "\(run.output)")
        #expect(run.output.contains("to whom?"))
    }

    @Test("check finds a result and progress that do not fit, and options that are taken against the schema")
    func schemas() throws {
        let folder = try TemporaryFolder()
        var worker = WorkerInPython()
        worker.call = """
            if m.get("progress"): say({"callbackId": id, "progress": "half"})
            say({"callbackId": id, "result": "seven"})
            """
        // Told when somebody asks, so that the task itself has to check; which it does not.
        worker.hello = """
            {"tasks": [{"name": "specimen", "summary": "A specimen.", "result": {"type": "integer"},
                        "progress": {"type": "number"}},
                       {"name": "specimen.good", "summary": "Answers with its options."}]}
            """
        try worker.write(to: folder)
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
        let (names, run) = try failures(manifest, "--call", #"specimen={"a": 1}"#)
        #expect(names == ["specimen options", "specimen progress", "specimen result"], "\(run.output)")
        #expect(run.output.contains("seven"))
    }

    @Test("check calls no task that nobody named, unless its schema refuses the options")
    func callsNothing() throws {
        let folder = try TemporaryFolder()
        var worker = WorkerInPython()
        worker.call = #"open("\#(folder.file("called"))", "a").close(); say({"callbackId": id, "result": 1})"#
        try worker.write(to: folder)
        let (names, run) = try failures(folder.file("specimen.plugin.toml"))
        #expect(names == [] && run.output.contains("--call"), "\(run.output)")
        #expect(!exists(folder.file("called")))
        #expect(try failures(folder.file("specimen.plugin.toml"), "--call", "specimen").names == [])
        #expect(exists(folder.file("called")))
        #expect(try failures(folder.file("specimen.plugin.toml"), "--call", "speciman").names == ["speciman call"])
    }

    @Test("check hands the plugin its section of the configuration that is named")
    func configuration() throws {
        let folder = try TemporaryFolder()
        let good = try folder.write("[plugins.alert]\npresenters = [\"log\"]\n", to: "good.toml")
        let bad = try folder.write("[plugins.alert]\npresenter = [\"log\"]\n", to: "bad.toml")
        let alert = Place.program("libAlertPlugin.so")
        #expect(try failures(alert, "--config", good).names == [])
        let (names, run) = try failures(alert, "--config", bad)
        #expect(names == ["load"] && run.output.contains("presenter"), "\(run.output)")
    }

    @Test("check of what is no plugin says so")
    func noPlugin() throws {
        let folder = try TemporaryFolder()
        let missing = try trestle(["plugin", "check", folder.file("nothing.so")])
        #expect(missing.end == .exited(1) && missing.errors.contains("nothing.so"))
        let text = try folder.write("no library", to: "libTextPlugin.so")
        #expect(try failures(text).names == ["load"])
    }

    @Test("check leaves nothing behind, also where it is interrupted")
    func interrupted() throws {
        let folder = try TemporaryFolder()
        var worker = WorkerInPython()
        worker.call = #"open("\#(folder.file("called"))", "a").close()"#
        try worker.write(to: folder)
        let output = folder.file("output")
        let check = try SpawnedProcess(
            Place.program("trestle"),
            ["plugin", "check", folder.file("specimen.plugin.toml"), "--call", "specimen", "--patience", "60"],
            output: .file(output), errors: .file(output))
        let deadline = Deadline()
        while !exists(folder.file("called")) {
            guard !deadline.isOver, !check.hasEnded(within: 5) else { throw Failure(contents(of: output)) }
        }
        let daemons = try children(of: check.pid)
        #expect(daemons.count == 1)
        check.signal(SIGINT)
        #expect(try check.wait() == .exited(130))
        for daemon in daemons { #expect(kill(daemon, 0) != 0) }
    }

    @Test("A daemon of a tool's own ends with the tool, even where that is killed")
    func killed() throws {
        let folder = try TemporaryFolder()
        var worker = WorkerInPython()
        worker.call = #"open("\#(folder.file("called"))", "a").close()"#
        try worker.write(to: folder)
        let check = try SpawnedProcess(
            Place.program("trestle"),
            ["plugin", "check", folder.file("specimen.plugin.toml"), "--call", "specimen", "--patience", "60"])
        let deadline = Deadline()
        while !exists(folder.file("called")) {
            guard !deadline.isOver, !check.hasEnded(within: 5) else { throw Failure("it does not call") }
        }
        let daemons = try children(of: check.pid)
        #expect(daemons.count == 1)
        check.signal(SIGKILL)
        _ = try check.wait()
        for daemon in daemons {
            while kill(daemon, 0) == 0, isAlive(daemon) {
                if deadline.isOver { throw Failure("the daemon lives on") }
                usleep(5_000)
            }
        }
    }

    /// Whether a process runs; one that has ended and was not waited for does not.
    private func isAlive(_ pid: pid_t) -> Bool {
        let state = contents(of: "/proc/\(pid)/stat").split(separator: ")").last?.split(separator: " ").first
        return state != nil && state != "Z"
    }

    private func children(of pid: pid_t) throws -> [pid_t] {
        let tasks = try run("/bin/sh", ["-c", "cat /proc/\(pid)/task/*/children"]).output
        return tasks.split(whereSeparator: \.isWhitespace).compactMap { pid_t($0) }
    }

    // MARK: new

    @Test("new writes a plugin that passes its own test and answers", arguments: ["c", "python", "sh"])
    func new(_ language: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("qr-scan")
        let made = try trestle(["plugin", "new", "qr-scan", "--language", language, "--directory", path])
        #expect(made.end == .exited(0), "\(made.errors)")
        #expect(made.output.contains("\(path)/README.md\n"))
        let tested = try run("/usr/bin/make", ["-C", path, "test"])
        #expect(tested.end == .exited(0), "\(tested.output)\(tested.errors)")
        #expect(tested.output.contains("it was called with"))
        let again = try trestle(["plugin", "new", "qr-scan", "--language", language, "--directory", path])
        #expect(again.end == .exited(64) && again.errors.contains("--directory"), "\(again.errors)")
    }

    @Test("new refuses a name, a language and a package that there are not, and says what there is")
    func refusals() throws {
        let folder = try TemporaryFolder()
        for arguments in [["9x"], ["x", "--language", "cobol"], ["x", "--trestle", folder.path]] {
            let refused = try trestle(["plugin", "new"] + arguments + ["--directory", folder.file("x")])
            #expect(refused.end == .exited(64) && refused.errors.count > 40, "\(refused.errors)")
        }
        #expect(!exists(folder.file("x")))
    }

    // MARK: list, load, unload, reload

    @Test("list tells of every plugin, and reload starts one anew")
    func listing() throws {
        let folder = try TemporaryFolder()
        try WorkerInPython().write(to: folder)
        try withDaemon(pluginDirectory: folder.path) { daemon in
            let listed = try daemon.home.trestle("plugin", "list")
            let plugin = try JSON(parsing: listed.output)
            #expect(plugin["name"] == "specimen" && plugin["state"] == "running")
            let reloaded = try daemon.home.trestle("plugin", "reload", "specimen")
            #expect(reloaded.end == .exited(0) && reloaded.output.contains(#""version":"1""#), "\(reloaded.errors)")
            let unknown = try daemon.home.trestle("plugin", "reload", "speciman")
            #expect(unknown.end == .exited(1) && unknown.errors.contains("specimen"))
        }
    }

    @Test("load says what is wrong with a path before it asks the daemon")
    func loading() throws {
        try withDaemon { daemon in
            let missing = try daemon.home.trestle("plugin", "load", "/nowhere/at.so")
            #expect(missing.end == .exited(1) && missing.errors.contains("/nowhere/at.so"), "\(missing.errors)")
        }
    }

    @Test("load brings a plugin, and unload takes it away")
    func loadingAndUnloading() throws {
        let folder = try TemporaryFolder()
        try WorkerInPython().write(to: folder)
        try withDaemon { daemon in
            let loaded = try daemon.home.trestle("plugin", "load", folder.file("specimen.plugin.toml"))
            #expect(try JSON(parsing: loaded.output)["name"] == "specimen", "\(loaded.errors)")
            #expect(try daemon.connect().result("specimen", 1) == 1)
            let unloaded = try daemon.home.trestle("plugin", "unload", "specimen")
            #expect(unloaded.end == .exited(0), "\(unloaded.errors)")
            #expect(try daemon.connect().call("specimen")["error"]?["code"] == "task.not_found")
        }
    }
}
