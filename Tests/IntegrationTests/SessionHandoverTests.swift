import BridgeJSON
import EventLoop
import Glibc
import TestSupport
import Testing

@Suite("A restart with a descriptor store", .blocking)
struct SessionHandoverTests {
    let manager: FakeServiceManager
    let home: DaemonHome

    init() throws {
        manager = try FakeServiceManager()
        home = try DaemonHome()
        home.environment += ["NOTIFY_SOCKET=\(manager.address)"]
    }

    /// Starts the daemon with the descriptors that the manager stores, and waits until it is ready.
    func start(storeLimit: Int = 1) throws -> SpawnedProcess {
        // The manager passes the descriptors from 3 on, for the process that becomes the daemon.
        let kept = manager.stored
        let names = kept.map(\.name).joined(separator: ":")
        // A shell exports its own process ID and becomes the daemon.
        let script =
            kept.isEmpty
            ? "exec \"$@\""
            : "export LISTEN_PID=$$ LISTEN_FDS=\(kept.count) LISTEN_FDNAMES=\(names); exec \"$@\""
        let process = try SpawnedProcess(
            "/bin/sh", ["-c", script, "sh", Paths.program("trestled")] + home.commandLine,
            environment: home.environment + ["FDSTORE=\(storeLimit)"], output: .file(home.logPath),
            errors: .file(home.logPath), handedOver: kept.map(\.descriptor))
        do {
            try manager.keep(until: { $0.hasPrefix("READY=1") }, within: 20_000)
        } catch {
            throw TestFailure("the daemon does not get ready: \(home.log.suffix(4_096))")
        }
        return process
    }

    /// Ends the daemon as a restart does, and stores the descriptors that it hands over.
    func end(_ process: SpawnedProcess) throws {
        process.signal(SIGTERM)
        // Receives until the process has ended, then once more for the rest.
        while !process.hasEnded(within: 1) {
            _ = try? manager.keep(until: { _ in false }, within: 20)
        }
        _ = try? manager.keep(until: { _ in false }, within: 0)
        #expect(try process.wait() == .exited(0), "\(home.log.suffix(4_096))")
    }

    private func session(of wire: Wire) throws -> JSON? {
        let sessions = try wire.result("bridge.sessions")["sessions"]?.arrayValue ?? []
        return sessions.first { $0["client"] == "me" }
    }

    @Test("keeps sessions with their number, origin, login, subscriptions, watches and tasks")
    func everything() throws {
        mkdir(home.folder.file("policy.d"), 0o755)
        try home.folder.write(
            "[[rule]]\nallow = [\"call\", \"register\", \"serve\", \"subscribe\"]\norigin = \"page:1\"\n",
            to: "policy.d/10.toml")
        var daemon = try start()
        let me = try home.connect()
        let other = try home.connect()
        _ = try other.result("login.users.add", ["user": "ada", "password": "pw"])
        _ = try me.result("bridge.hello", ["client": "me", "origin": "page:1", "version": "2"])
        _ = try me.result("login", ["user": "ada", "password": "pw"])
        _ = try me.result("bridge.register", ["tasks": ["mine"]])
        _ = try me.result("bridge.subscribe", ["events": ["door.*"]])
        _ = try other.result("persistence.watch", ["table": "t"])
        let status = try me.result("login.status")
        let before = try session(of: other)
        for _ in 1...2 {
            try end(daemon)
            #expect(manager.stored.count == 1, "\(home.log.suffix(4_096))")
            daemon = try start()
            // The daemon removes them from the store after it has taken them over.
            _ = try? manager.keep(until: { _ in false }, within: 0)
            #expect(manager.stored.isEmpty)
        }
        let after = try session(of: other)
        for member in ["session", "uid", "pid", "origin", "user", "version", "tasks", "subscriptions"] {
            #expect(after?[member] == before?[member], "\(member)")
        }
        #expect(try me.result("login.status") == status)
        // A new session gets a number that no earlier session had.
        let late = try home.connect()
        _ = try late.result("bridge.hello", ["client": "late"])
        let numbers = try late.result("bridge.sessions")["sessions"]?.arrayValue?.compactMap {
            $0["session"]?.int64Value
        }
        #expect(Set(numbers ?? []).count == 3)
        // The tasks, subscriptions and watches of the sessions still work.
        try late.send(#"{"task":"mine","options":{"a":1},"callbackId":"m"}"#)
        let call = try me.receive { $0["task"] == "mine" }
        try me.send(#"{"callbackId":\#(call["callbackId"]?.text ?? ""),"result":"done"}"#)
        #expect(try late.receive { $0["callbackId"] == "m" }["result"] == "done")
        _ = try late.result("bridge.publish", ["event": "door.opened", "data": 7])
        #expect(try me.receive { $0["event"] == "door.opened" }["data"] == 7)
        _ = try late.result("persistence.create", ["table": "t", "key": "k", "record": [:]])
        #expect(try other.receive { $0["event"] == "record.changed" }["data"]?["key"] == "k")
        try end(daemon)
    }

    @Test("loses no call: the next daemon answers what was sent in between, also lines sent in two parts")
    func input() throws {
        var daemon = try start()
        let wires = try (0..<5).map { _ in try home.connect() }
        for (index, wire) in wires.enumerated() { #expect(try wire.result("Echo", .number(JSONNumber(index))) != nil) }
        var sent = 0
        for round in 0..<3 {
            // The old daemon has the beginning of a line, the new one receives its end.
            for wire in wires {
                try wire.send(#"{"task":"Echo","options":"before","callbackId":\#(sent)}"#)
                try wire.send(bytes: Array(#"{"task":"Echo","options":"cut "#.utf8))
            }
            // The daemon has read this part when it has answered the call before it.
            for wire in wires { #expect(try wire.receive()["callbackId"] == .number(JSONNumber(sent))) }
            try end(daemon)
            for wire in wires {
                try wire.send("in two\",\"callbackId\":\(sent + 1)}")
                for number in 2..<20 {
                    try wire.send(#"{"task":"Echo","options":\#(number),"callbackId":\#(sent + number)}"#)
                }
            }
            daemon = try start()
            for wire in wires {
                #expect(try wire.receive() == ["callbackId": .number(JSONNumber(sent + 1)), "result": "cut in two"])
                for number in 2..<20 {
                    let id = JSON.number(JSONNumber(sent + number))
                    #expect(
                        try wire.receive() == ["callbackId": id, "result": .number(JSONNumber(number))], "\(round)")
                }
            }
            sent += 100
        }
        try end(daemon)
    }

    @Test("keeps any number of sessions, with retained events")
    func many() throws {
        var daemon = try start()
        let wires = try (0..<600).map { _ in try home.connect() }
        for wire in wires { _ = try wire.result("bridge.subscribe", ["events": ["all"]]) }
        _ = try wires[0].result("bridge.publish", ["event": "lamp", "data": "on", "retain": true])
        try end(daemon)
        daemon = try start()
        _ = try wires[0].result("bridge.publish", ["event": "all", "data": 1])
        for wire in wires { #expect(try wire.receive { $0["event"] == "all" }["data"] == 1) }
        _ = try wires[1].result("bridge.subscribe", ["events": ["lamp"]])
        #expect(try wires[1].receive { $0["event"] == "lamp" }["data"] == "on")
        try end(daemon)
    }

    @Test("ends calls in flight first, and keeps their sessions")
    func inFlight() throws {
        home.arguments += ["--config", home.folder.file("short.toml")]
        try home.folder.write("drain_timeout = \"50ms\"\n", to: "short.toml")
        var daemon = try start()
        let (caller, provider) = (try home.connect(), try home.connect())
        _ = try provider.result("bridge.register", ["tasks": ["never"]])
        try caller.send(#"{"task":"never","callbackId":1}"#)
        _ = try provider.receive { $0["task"] == "never" }
        try end(daemon)
        #expect(try caller.receive { $0["callbackId"] == 1 }["error"]?["code"] == "daemon.stopping")
        daemon = try start()
        #expect(try caller.result("Echo", 2) == 2)
        #expect(try provider.result("Echo", 3) == 3)
        try end(daemon)
    }

    @Test("notifies the sessions that it cannot keep")
    func unkept() throws {
        let daemon = try start()
        let wire = try home.connect()
        _ = try wire.result("Echo", 1)
        manager.vanish()
        try end(daemon)
        let lost = try wire.receive { $0["event"] == "session.lost" }
        #expect(lost["data"]?["reason"] == "the daemon could not hand the session over")
        #expect(throws: TestFailure.self) { try wire.receive() }
    }

    @Test("notifies and closes connections without a session table")
    func noTable() throws {
        var daemon = try start()
        let wire = try home.connect()
        _ = try wire.result("Echo", 1)
        try end(daemon)
        try manager.replaceStored { parcel in
            // The table is first: this truncates it and keeps the connections.
            var contents: [Int32] = []
            try DescriptorBundle(adopting: parcel).unpack { contents.append($0) }
            defer { for descriptor in contents { close(descriptor) } }
            #expect(ftruncate(try #require(contents.first), 0) == 0)
            let other = try DescriptorBundle.make(of: contents)
            return dup(other.descriptor)
        }
        daemon = try start()
        #expect(try wire.receive()["event"] == "session.lost")
        #expect(throws: TestFailure.self) { try wire.receive() }
        #expect(try home.connect().result("Echo", 2) == 2)
        try end(daemon)
    }

    @Test("closes connections if there is no store")
    func without() throws {
        let daemon = try start(storeLimit: 0)
        let wire = try home.connect()
        _ = try wire.result("Echo", 1)
        try end(daemon)
        #expect(manager.stored.isEmpty)
        #expect(throws: TestFailure.self) { try wire.receive() }
    }
}
