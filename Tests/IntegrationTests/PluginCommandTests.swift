import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("trestle plugin", .blocking)
struct PluginCommandTests {
    private func trestle(_ arguments: [String], environment: [String] = []) throws -> ProgramRun {
        try run(Paths.program("trestle"), arguments, environment: environment)
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

    @Test("new fills the current folder if it is empty", arguments: [".", "./", "../empty"])
    func newHere(_ directory: String) throws {
        let folder = try TemporaryFolder()
        let command = """
            new() { "$2" plugin new greet --language sh --directory "$3"; }
            mkdir "$1/empty" && cd "$1/empty" && new "$@" && test -x greet.sh && ! new "$@"
            """
        let made = try run("/bin/sh", ["-c", command, "sh", folder.path, Paths.program("trestle"), directory])
        #expect(made.end == .exited(0), "\(made.errors)")
        #expect(made.errors.contains("is not empty"))
        #expect(exists(folder.file("empty/greet.plugin.toml")))
    }

    @Test("new refuses an invalid name, an unknown language and an invalid package, and explains each")
    func refusals() throws {
        let folder = try TemporaryFolder()
        for arguments in [["9x"], ["x", "--language", "cobol"], ["x", "--trestle", folder.path]] {
            let refused = try trestle(["plugin", "new"] + arguments + ["--directory", folder.file("x")])
            #expect(refused.end == .exited(64) && refused.errors.count > 40, "\(refused.errors)")
        }
        #expect(!exists(folder.file("x")))
    }

    // MARK: list, load, unload, reload

    @Test("list shows every plugin, and reload restarts one")
    func listing() throws {
        let folder = try TemporaryFolder()
        try PluginInPython().write(to: folder)
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

    @Test("load reports an invalid path before it calls the daemon")
    func loading() throws {
        try withDaemon { daemon in
            let missing = try daemon.home.trestle("plugin", "load", "/nowhere/at.so")
            #expect(missing.end == .exited(1) && missing.errors.contains("/nowhere/at.so"), "\(missing.errors)")
        }
    }

    @Test("load adds a plugin, and unload removes it")
    func loadingAndUnloading() throws {
        let folder = try TemporaryFolder()
        try PluginInPython().write(to: folder)
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
