import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("trestle store", .blocking)
struct StoreCommandTests {
    func create(_ key: String, _ client: Wire, text: String = "") throws {
        let options: JSON = ["table": "t", "key": .string(key), "record": ["of": .string(key), "text": .string(text)]]
        _ = try client.result("persistence.create", options)
    }

    func keys(_ client: Wire) throws -> [String] {
        let page = try client.result("persistence.query", ["table": "t", "limit": 1_000])
        return page["records"]?.arrayValue?.compactMap { $0["key"]?.stringValue } ?? []
    }

    /// Returns the same keys by an export, which also works with short messages.
    private func exportedKeys(_ home: DaemonHome) throws -> [String] {
        let lines = try home.trestle("store", "export").output.split(separator: "\n")
        return try lines.compactMap { try JSON(parsing: String($0))["key"]?.stringValue }
    }

    /// Returns the names in a directory.
    private func names(in path: String) throws -> [String] {
        try run("/bin/ls", ["-A", path]).output.split(separator: "\n").map(String.init)
    }

    /// Returns the names of transfer files, and of files kept by a restore, in the state directory.
    func copies(_ home: DaemonHome) throws -> [String] {
        try names(in: home.statePath).filter { $0.contains("transfer") || $0.contains("before") }
    }

    @Test("backup writes a file that restore brings back, whatever has changed in between")
    func restore() throws {
        try withDaemon { daemon in
            let home = daemon.home
            let (client, folder) = (try daemon.connect(), try TemporaryFolder())
            for key in ["a", "b"] { try create(key, client) }
            let file = folder.file("backup.sqlite")
            let backup = try home.trestle("store", "backup", file)
            #expect(backup.end == .exited(0), "\(backup.errors)")
            #expect(backup.errors == "")
            let result = try JSON(parsing: backup.output)
            #expect(result["file"] == .string(file))
            #expect(result["records"] == 2)
            let sum = try run("/usr/bin/sha256sum", [file]).output.prefix { $0 != " " }
            #expect(result["sha256"] == .string(String(sum)))
            var status = stat()
            #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
            #expect(result["bytes"]?.int64Value == Int64(status.st_size))
            _ = try client.result("persistence.delete", ["table": "t", "key": "a"])
            try create("c", client)
            let restore = try home.trestle("store", "restore", file, "--json")
            #expect(restore.end == .exited(0), "\(restore.errors)")
            #expect(try keys(client) == ["a", "b"])
            let kept = try #require(try JSON(parsing: restore.output)["kept"]?.stringValue)
            #expect(kept == home.statePath + "/records.sqlite.before-restore-1")
            #expect(exists(kept))
            #expect(try copies(home) == ["records.sqlite.before-restore-1"])
            #expect(try names(in: folder.path) == ["backup.sqlite"])
            #expect(daemon.log.contains("replaced by a backup"))
            // The next daemon starts with the restored store.
            #expect(try daemon.stop() == .exited(0))
            #expect(try withDaemon(in: home) { try keys($0.connect()) } == ["a", "b"])
        }
    }

    @Test("An existing file is replaced only with --force, and a directory or a device never")
    func existing() throws {
        try withDaemon { daemon in
            let folder = try TemporaryFolder()
            let file = try folder.write("precious", to: "file")
            for command in ["backup", "export"] {
                let refused = try daemon.home.trestle("store", command, file)
                #expect(refused.end == .exited(64))
                #expect(refused.errors.contains("--force"), "\(refused.errors)")
                #expect(contents(of: file) == "precious")
                for path in [folder.path, "/dev/null"] {
                    let run = try daemon.home.trestle("store", command, path, "--force")
                    #expect(run.end == .exited(64), "\(run.errors)")
                }
            }
            #expect(try daemon.home.trestle("store", "export", file, "--force").end == .exited(0))
            #expect(contents(of: file).hasPrefix(#"{"trestle":"export""#))
            #expect(try names(in: folder.path) == ["file"])
            // The daemon removes its copy when it has noticed the end of the session.
            let deadline = Deadline()
            while try copies(daemon.home) != [], !deadline.isOver { sched_yield() }
            #expect(try copies(daemon.home) == [])
        }
    }

    @Test("Errors of reading and writing are reported in one line, with the matching status")
    func failures() throws {
        try withDaemon { daemon in
            let folder = try TemporaryFolder()
            let foreign = try folder.write("no database", to: "foreign")
            let cut = try folder.write("{\"trestle\":\"export\",\"version\":1}\n{\"key\":1}\n", to: "cut")
            for (arguments, status, reason) in [
                (["restore", folder.file("nothing")], 1, "no such file"), (["restore", foreign], 1, "backup.invalid"),
                (["import", cut], 1, "line 2: "), (["import", folder.path], 64, "directory"),
                (["backup", folder.file("no/where")], 1, "no such file"), (["backup"], 64, "file"),
                (["import", cut, "--if-exists", "never"], 64, "never"), (["restore"], 64, "file"),
                (["export", "--namespace", "me"], 1, "$.namespace"),
            ] as [([String], Int32, String)] {
                let run = try run(
                    Paths.program("trestle"), ["--socket", daemon.home.socketPath, "store"] + arguments)
                #expect(run.end == .exited(status), "\(arguments): \(run.errors)")
                #expect(run.errors.contains(reason), "\(arguments): \(run.errors)")
                #expect(run.output == "")
            }
            #expect(try names(in: folder.path) == ["cut", "foreign"])
        }
    }

    @Test("The command reads no store from a terminal and writes none to it")
    func terminal() throws {
        try withDaemon { daemon in
            for arguments in ["import", "import -", "restore -", "backup -"] {
                // script(1) runs the command in its own terminal.
                let command = "\(Paths.program("trestle")) --socket \(daemon.home.socketPath) store \(arguments)"
                let run = try run("/usr/bin/script", ["-qec", command, "/dev/null"])
                #expect(run.end == .exited(64), "\(arguments): \(run.output)")
                #expect(run.output.contains("terminal"), "\(arguments): \(run.output)")
            }
        }
    }

    @Test(
        "An export goes through a pipe into another store, any number of times",
        arguments: ["", "limits.message_bytes = 1024"])
    func pipe(_ configuration: String) throws {
        try withDaemon(configuration) { source in
            try withDaemon(configuration) { target in
                let client = try source.connect()
                for key in 0..<30 { try create("k\(key)", client, text: String(repeating: "x", count: key * 10)) }
                let trestle = Paths.program("trestle")
                let export = "\(trestle) --socket \(source.home.socketPath) store export --table t"
                let importing = "\(trestle) --socket \(target.home.socketPath) store import"
                for (flags, outcome) in [
                    ("--dry-run", [30, 30, 0, 0]), ("--table u", [0, 0, 0, 0]), ("", [30, 30, 0, 0]),
                    ("--if-exists skip", [30, 0, 0, 30]), ("--if-exists replace -", [30, 0, 30, 0]),
                ] as [(String, [Int64])] {
                    let run = try run("/bin/sh", ["-c", "\(export) | \(importing) \(flags)"])
                    #expect(run.end == .exited(0), "\(run.errors)")
                    let result = try JSON(parsing: run.output)
                    #expect(["records", "created", "replaced", "skipped"].map { result[$0]?.int64Value } == outcome)
                }
                let again = try run("/bin/sh", ["-c", "\(export) | \(importing)"])
                #expect(again.end == .exited(1))
                #expect(again.errors.contains("line 2: $.key"), "\(again.errors)")
                #expect(try exportedKeys(target.home) == exportedKeys(source.home))
                // A backup goes through a pipe as well.
                let backup = "\(trestle) --socket \(source.home.socketPath) store backup -"
                let restore = "\(trestle) --socket \(target.home.socketPath) store restore -"
                let restored = try run("/bin/sh", ["-c", "\(backup) | \(restore)"])
                #expect(restored.end == .exited(0), "\(restored.errors)")
                #expect(try exportedKeys(target.home) == exportedKeys(source.home))
            }
        }
    }

    @Test("trestle call writes a backup to standard output and restores one from a file")
    func call() throws {
        try withDaemon { daemon in
            let (client, folder) = (try daemon.connect(), try TemporaryFolder())
            try create("a", client)
            let file = folder.file("backup")
            let trestle = "\(Paths.program("trestle")) --socket \(daemon.home.socketPath)"
            let backup = try run("/bin/sh", ["-c", "\(trestle) call persistence.backup > \(file)"])
            #expect(backup.end == .exited(0) && backup.errors == "", "\(backup.errors)")
            try create("b", client)
            let restore = try daemon.home.trestle("call", "persistence.restore", "stream=@\(file)")
            #expect(restore.end == .exited(0), "\(restore.errors)")
            #expect(try keys(client) == ["a"])
            try client.result("bridge.ping") { _ in (try? copies(daemon.home)) == ["records.sqlite.before-restore-1"] }
        }
    }

    // MARK: Interrupted

    @Test("An import that is interrupted while it reads leaves no records and no files")
    func interruptedImport() throws {
        try withDaemon { daemon in
            let (client, ends) = (try daemon.connect(), try connectedPair())
            defer { close(ends.ours) }
            let process = try SpawnedProcess(
                Paths.program("trestle"), ["--socket", daemon.home.socketPath, "store", "import"],
                input: .descriptor(ends.theirs))
            close(ends.theirs)
            let begin = Array("{\"trestle\":\"export\",\"version\":1}\n".utf8)
            #expect(write(ends.ours, begin, begin.count) == begin.count)
            try client.result("bridge.ping") { _ in (try? copies(daemon.home)) != [] }
            process.signal(SIGINT)
            #expect(try process.wait() == .exited(130))
            try client.result("bridge.ping") { _ in (try? copies(daemon.home)) == [] }
            #expect(try keys(client) == [])
        }
    }

    @Test("An interrupted backup is complete or leaves no file")
    func interruptedBackup() throws {
        // Short messages, so that the backup takes longer.
        try withDaemon("limits.message_bytes = 2048") { daemon in
            let client = try daemon.connect()
            for key in 0..<400 { try create("k\(key)", client, text: String(repeating: "x", count: 1_500)) }
            var whole: [TemporaryFolder] = []
            for round in 0..<3 {
                let folder = try TemporaryFolder()
                let command = try Command(daemon.home, "store", "backup", folder.file("backup"))
                try client.result("bridge.ping") { _ in (try? names(in: folder.path)) != [] }
                let end = try command.stop(round == 0 ? SIGTERM : SIGINT)
                let left = try names(in: folder.path)
                // The signal may arrive when the backup is complete and the process has not ended yet.
                #expect(left == ["backup"] || left == [] && end != .exited(0), "\(end)")
                if left == ["backup"] { whole.append(folder) }
            }
            try client.result("bridge.ping") { _ in (try? copies(daemon.home)) == [] }
            for folder in whole {
                let restore = try daemon.home.trestle("store", "restore", folder.file("backup"))
                #expect(restore.end == .exited(0), "\(restore.errors)")
                #expect(try exportedKeys(daemon.home).count == 400)
            }
        }
    }
}
