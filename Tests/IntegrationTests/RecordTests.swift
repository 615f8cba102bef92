import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("trestle record and replay", .blocking)
struct RecordTests {
    private func lines(_ text: String) throws -> [JSON] {
        try text.split(separator: "\n").map { try JSON(parsing: String($0)) }
    }

    /// Records what `body` does with a daemon.
    private func record(_ daemon: DaemonProcess, to file: String, _ body: (Wire) throws -> Void) throws {
        let client = try daemon.connect()
        let command = try Command(daemon.home, "record", file)
        try client.result("bridge.status") { $0["monitors"] == 1 }
        try body(client)
        #expect(try command.stop(SIGINT) == .exited(130), "\(command.errors)")
        #expect(try command.line()?.contains(#""calls":"#) == true)
    }

    private func work(_ client: Wire) throws {
        for key in ["a", "b"] {
            _ = try client.result("persistence.create", ["table": "t", "key": .string(key), "record": ["n": 1.5]])
        }
        _ = try client.result("persistence.query", ["table": "t"])
        _ = try client.result("Echo", .string(String(repeating: "long ", count: 1_000)))
        _ = try client.call("persistence.read", ["table": "t", "key": "none"])
        // First a call without a callback, then one that is not replayed because of its secret.
        try client.send(#"{"task":"Echo","options":1}"#)
        _ = try client.result("Echo", ["password": "hunter2"])
    }

    @Test("A recording replays with the same outcomes on a fresh daemon; differences are shown with their position")
    func replay() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("r.jsonl")
        try withDaemon { daemon in try record(daemon, to: file, work) }
        var status = stat()
        #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
        let recorded = try lines(contents(of: file))
        #expect(recorded.first?["trestle"] == "recording")
        #expect(recorded.first?["daemon"]?["name"] == "trestled")
        #expect(recorded.last?["kind"] == "end")
        #expect(!contents(of: file).contains("hunter2"))
        let offsets = recorded.dropFirst().compactMap { $0["offsetUs"]?.int64Value }
        #expect(offsets.count == recorded.count - 1 && offsets == offsets.sorted())

        try withDaemon { daemon in
            let run = try daemon.home.trestle("replay", file)
            #expect(run.end == .exited(0), "\(run.output)\(run.errors)")
            let shown = try lines(run.output)
            #expect(shown.last?["kind"] == "summary")
            #expect(shown.last?["different"] == 0)
            #expect(shown.last?["skipped"]?["masked"] == 1)
            #expect(shown.last?["same"]?.int64Value ?? 0 >= 5)
            #expect(shown.last?["notCompared"] == 1)
            #expect(shown.last?["skipped"]?["cut"] == nil)
            #expect(try daemon.connect().result("persistence.query", ["table": "t"]).text.contains("1.5"))
        }
        try withDaemon { daemon in
            _ = try daemon.connect().result(
                "persistence.create", ["table": "t", "key": "c", "record": [:]])
            let run = try daemon.home.trestle("replay", file, "--speed", "1000")
            #expect(run.end == .exited(1))
            let differences = try lines(run.output).filter { $0["kind"] == "different" }
            #expect(differences.count == 3, "\(run.output)")
            #expect(
                differences.first?["differences"] == [["path": "$.version", "recorded": 1, "now": 2]], "\(run.output)")
            #expect(run.output.contains(#""path":"$.records[2]""#))
        }
        try withDaemon { daemon in
            _ = try daemon.connect().result("persistence.create", ["table": "other", "record": [:]])
            let run = try daemon.home.trestle(
                "replay", file, "--ignore", "$.version", "--ignore", "$.records[*].version")
            #expect(run.end == .exited(0), "\(run.output)")
        }
    }

    @Test("A recording contains no passwords and no tokens")
    func secrets() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("r.jsonl")
        var token = ""
        try withDaemon { daemon in
            try record(daemon, to: file) { client in
                let account: JSON = ["user": "ada", "password": "hunter2-hunter2"]
                _ = try client.result("login.users.add", account)
                token = try #require(client.result("login", account)["token"]?.stringValue)
                _ = try client.result("login", ["token": .string(token)])
                _ = try client.call("login", ["user": "ada", "password": ["hunter2-hunter2"]])
                _ = try client.result("Echo", ["headers": ["Authorization": "hunter2"], "api-key": "hunter2"])
            }
        }
        let recording = contents(of: file)
        #expect(recording.contains(#""task":"login.users.add""#) && recording.contains(#""options":"<private>""#))
        #expect(!recording.contains("hunter2") && !recording.contains(token))
    }

    @Test("A call with a stream is recorded without the name of the stream, and is not replayed")
    func streams() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("r.jsonl")
        var names: [String] = []
        try withDaemon { daemon in
            try record(daemon, to: file) { client in
                let made = try client.result("bridge.stream.new")["stream"]
                let name = try #require(made?.stringValue)
                _ = try client.result("Echo", ["photo": .string(name)])
                let exported = try client.result("persistence.export")["stream"]
                names = [name, try #require(exported?.stringValue)]
                _ = try client.call("persistence.import", ["stream": "not a name"])
                _ = try client.result("Echo", "no stream")
            }
        }
        let recording = contents(of: file)
        #expect(recording.contains(#""options":{"photo":"<stream>"}"#), "\(recording)")
        #expect(names.allSatisfy { !recording.contains($0) })
        try withDaemon { daemon in
            let run = try daemon.home.trestle("replay", file)
            #expect(run.end == .exited(0), "\(run.output)\(run.errors)")
            let shown = try lines(run.output)
            #expect(shown.last?["skipped"]?["stream"] == 4, "\(run.output)")
            #expect(shown.filter { $0["reason"] == "stream" }.count == 4)
            #expect(shown.last?["different"] == 0)
            let text = try daemon.home.trestle("replay", file, "--text")
            #expect(text.output.contains("4 not sent: one of their options, or their result, was a stream"))
        }
    }

    @Test("Tasks that clients provided are replayed if a client provides them now")
    func provided() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("r.jsonl")
        func provide(_ daemon: DaemonProcess) throws -> Command {
            let command = try Command(daemon.home, "register", "shout", "--", "/bin/sh", "-c", "tr a-z A-Z")
            try daemon.connect().result("bridge.tasks") { $0.text.contains(#""shout""#) }
            return command
        }
        try withDaemon { daemon in
            let provider = try provide(daemon)
            try record(daemon, to: file) { client in
                let answer = try client.result("shout", "x")
                #expect(answer == "X")
            }
            _ = try provider.stop()
        }
        try withDaemon { daemon in
            let without = try daemon.home.trestle("replay", file)
            #expect(without.end == .exited(0), "\(without.errors)")
            #expect(try lines(without.output).last?["skipped"]?["provided"] == 1)
            let provider = try provide(daemon)
            let with = try daemon.home.trestle("replay", file)
            #expect(with.end == .exited(0), "\(with.output)")
            #expect(try lines(with.output).last?["skipped"]?["provided"] == nil)
            _ = try provider.stop()
        }
    }

    @Test("record ends after its duration, refuses to replace a file, and keeps its lines when the daemon ends")
    func record() throws {
        try withDaemon { daemon in
            let folder = try TemporaryFolder()
            let file = folder.file("r.jsonl")
            #expect(try daemon.home.trestle("record", file, "--for", "10ms").end == .exited(0))
            #expect(try lines(contents(of: file)).map { $0["trestle"] ?? $0["kind"] }.last == "end")
            let refused = try daemon.home.trestle("record", file, "--for", "10ms")
            #expect(refused.end == .exited(64))
            #expect(refused.errors.contains("--force"), "\(refused.errors)")
            let piped = try daemon.home.trestle("record", "-", "--for", "10ms")
            #expect(try lines(piped.output).first?["trestle"] == "recording")
            let client = try daemon.connect()
            let command = try Command(daemon.home, "record", file, "--force", "--task", "Ec*")
            try client.result("bridge.status") { $0["monitors"] == 1 }
            _ = try client.result("Echo", "last words")
            #expect(try daemon.stop() == .exited(0))
            #expect(try command.process.wait() != .exited(0))
            #expect(contents(of: file).contains("last words"), "\(command.errors)")
        }
    }

    @Test("A file that is not a recording is refused with the line and the expectation")
    func faults() throws {
        try withDaemon { daemon in
            let folder = try TemporaryFolder()
            let file = try folder.write("{\"trestle\":\"recording\",\"version\":1}\n{\"kind\":\"call\"}\n", to: "r")
            let run = try daemon.home.trestle("replay", file)
            #expect(run.end == .exited(1))
            #expect(run.errors == "trestle: \(file):2: $.offsetUs: expected an integer of at least 0; got nothing\n")
            #expect(try daemon.home.trestle("replay", folder.file("none")).end == .exited(1))
            #expect(try daemon.home.trestle("replay", file, "--ignore", "version").end == .exited(64))
            #expect(try daemon.home.trestle("replay", file, "--speed", "0").end == .exited(64))
        }
    }
}
