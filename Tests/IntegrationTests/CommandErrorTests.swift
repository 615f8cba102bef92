import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("Errors of the command line", .blocking)
struct CommandErrorTests {
    /// Runs the program by a shell, whose text redirects its descriptors.
    private func run(_ redirection: String, _ program: String, _ arguments: [String]) throws -> ProgramRun {
        try TestSupport.run("/bin/sh", ["-c", "exec \"$0\" \"$@\" \(redirection)", Paths.program(program)] + arguments)
    }

    @Test(
        "A command exits with 1 and an error if standard output cannot be written",
        arguments: [
            (["status"], ">/dev/full", "no space left on device (ENOSPC)"),
            (["call", "Echo", "a=1"], ">/dev/full", "no space left on device (ENOSPC)"),
            (["metrics"], ">/dev/full", "no space left on device (ENOSPC)"),
            (["plugin", "list"], ">/dev/full", "no space left on device (ENOSPC)"),
            (["call", "Echo", "a=1"], ">&-", "bad file descriptor (EBADF)"),
        ])
    func fullOutput(arguments: [String], redirection: String, reason: String) throws {
        try withDaemon { daemon in
            let run = try run(redirection, "trestle", ["--socket", daemon.home.socketPath] + arguments)
            #expect(run.end == .exited(1), "\(run)")
            #expect(run.errors == "trestle: standard output cannot be written: \(reason)\n", "\(run)")
        }
    }

    @Test("A command that runs until it is interrupted ends when its output cannot be written")
    func fullOutputOfSubscription() throws {
        try withDaemon { daemon in
            #expect(try daemon.home.trestle("publish", "lamp", "on=true", "--retain").end == .exited(0))
            let run = try run(">/dev/full", "trestle", ["--socket", daemon.home.socketPath, "subscribe", "lamp"])
            #expect(run.end == .exited(1) && run.errors.contains("cannot be written"), "\(run)")
        }
    }

    @Test(
        "trestled exits with 1 and an error if a printed configuration cannot be written",
        arguments: ["sample", "schema", "effective"])
    func fullConfiguration(form: String) throws {
        let run = try run(">/dev/full", "trestled", ["--print-config", form])
        #expect(run.end == .exited(1), "\(run)")
        #expect(run.errors.contains("trestled: standard output cannot be written: no space left"), "\(run)")
    }

    @Test(
        "With --json, errors of the program itself are JSON with a code too",
        arguments: [
            (["replay", "/nowhere"], "file.failed"), (["plugin", "load", "/nowhere"], "file.failed"),
            (["plugin", "install", "/nowhere"], "file.failed"), (["plugin", "check", "/nowhere"], "file.failed"),
            (["package", "check", "/nowhere"], "file.failed"), (["replay", "/dev/null"], "recording.invalid"),
            (["package", "check", "/dev/null"], "package.invalid"), (["user", "add", "ann"], "password.missing"),
            (["generate", "--language", "typescript", "--check", "/dev/null"], "file.outdated"),
        ])
    func errorsAsJSON(arguments: [String], code: String) throws {
        try withDaemon { daemon in
            let run = try daemon.home.trestle(arguments + ["--json"])
            #expect(run.end == .exited(1) && run.output == "", "\(run)")
            #expect(try JSON(parsing: run.errors)["error"]?["code"] == .string(code), "\(run)")
        }
    }

    @Test("config reload --json shows a refused configuration as JSON, with every mistake")
    func reloadAsJSON() throws {
        let home = try DaemonHome("log_level = \"debug\"\n")
        home.logLevel = nil
        try withDaemon(in: home) { daemon in
            try home.folder.write("log_level = \"loud\"\nsockte = 1\n", to: "trestled.toml")
            let run = try home.trestle("config", "reload", "--json")
            #expect(run.end == .exited(78), "\(run)")
            let error = try JSON(parsing: run.errors)["error"]
            #expect(error?["code"] == "configuration.invalid", "\(run)")
            #expect(error?["data"]?["problems"]?.arrayValue?.count == 2, "\(run)")
        }
    }

    @Test("A key pair is not written to standard output, because it is two files")
    func keyPair() throws {
        let folder = try TemporaryFolder()
        let run = try TestSupport.run(Paths.program("trestle"), ["package", "key", "-"], folder: folder.path)
        #expect(run.end == .exited(64) && run.output == "" && run.errors.contains("two files"), "\(run)")
        #expect(try TestSupport.run("/bin/ls", ["-A", folder.path]).output == "")
    }

    @Test("A file that is no plugin is refused before anything is installed", arguments: ["install", "load", "check"])
    func noPlugin(command: String) throws {
        let folder = try TemporaryFolder()
        let script = try folder.write("#!/bin/sh\n", to: "t.sh")
        let target = folder.file("plugins")
        let options = command == "install" ? ["--directory", target] : []
        let run = try TestSupport.run(Paths.program("trestle"), ["plugin", command, script] + options)
        #expect(run.end == .exited(64) && run.errors.contains("\(script) is not a plugin: name a library"), "\(run)")
        #expect(!exists(target))
    }

    @Test(
        "explain refuses two subjects, and a verb without a name",
        arguments: [
            (["Alert", "--as", "1000", "--session", "4711"], "exclude each other"),
            (["Alert", "--plugin", "p", "--session", "4711"], "exclude each other"),
            (["Alert", "--plugin", "p", "--as", "root"], "exclude each other"),
            (["subscribe"], "explain subscribe NAME"), (["store"], "explain store NAME"),
            (["reach"], "explain reach NAME"),
        ])
    func wrongExplain(arguments: [String], words: String) throws {
        let run = try TestSupport.run(Paths.program("trestle"), ["--socket", "/nowhere", "explain"] + arguments)
        #expect(run.end == .exited(64) && run.errors.contains(words), "\(run)")
    }

    @Test(
        "A path that no socket can have is wrong usage",
        arguments: [("", "the path is empty"), ("/" + String(repeating: "s", count: 140), "the path has 141 bytes")])
    func socketPath(path: String, words: String) throws {
        let run = try TestSupport.run(Paths.program("trestle"), ["--socket", path, "status"])
        #expect(run.end == .exited(64) && run.errors.hasPrefix("trestle: --socket: \(words)"), "\(run)")
        #expect(!run.errors.contains("start it with trestled"), "\(run)")
    }

    @Test("Standard input that cannot be read is reported as such")
    func unreadableInput() throws {
        let run = try run("</tmp", "trestle", ["--socket", "/nowhere", "call", "Echo", "-"])
        #expect(run.end == .exited(64), "\(run)")
        #expect(run.errors.contains("standard input cannot be read: illegal operation on a directory"), "\(run)")
    }

    @Test("An invalid time limit is reported with the usage of the command")
    func usage() throws {
        for arguments in [["call", "Echo", "--timeout", "abc"], ["--timeout", "abc", "call", "Echo"]] {
            let run = try TestSupport.run(Paths.program("trestle"), arguments)
            #expect(run.end == .exited(64), "\(run)")
            #expect(run.errors.contains("See 'trestle call --help'"), "\(run)")
        }
    }
}
