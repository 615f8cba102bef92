import BridgeJSON
import EventLoop
import Glibc
import TestSupport
import Testing

// Sessions that a restart ends, without ending others.
extension SessionHandoverTests {
    // MARK: State of plugins

    /// Expects the event that ends a session at a restart.
    private func expectEnd(_ wire: Wire, because reason: String) throws {
        #expect(try wire.receive { $0["event"] == "session.lost" }["data"]?["reason"]?.stringValue == reason)
        #expect(try wire.receiveAll() == [])
    }

    private func number(of wire: Wire) throws -> Int64 {
        try #require(try wire.result("bridge.hello")["session"]?.int64Value)
    }

    private func longTable(_ number: Int) -> String { String(repeating: "t", count: 240) + ".\(number)" }

    /// Watches the specified number of tables. Each takes 1,300 bytes of the state that persistence hands over.
    private func watch(_ wire: Wire, _ count: Int) throws {
        let namespace = JSON.string("0:" + String(repeating: "o", count: 1_000))
        for table in 0..<count {
            _ = try wire.result(
                "persistence.watch", ["table": .string(longTable(table)), "namespace": namespace])
        }
    }

    @Test("ends a session whose plugin state exceeds a message, and no other session")
    func tooMuchKnown() throws {
        try home.folder.write("[plugins.persistence]\nisolation = \"process\"\n", to: "trestled.toml")
        var daemon = try start()
        let (rich, other) = (try home.connect(), try home.connect())
        let richNumber = try number(of: rich)
        // Together, these two sessions exceed a message; each alone does not.
        let half = try (1...2).map { _ in try home.connect() }
        try watch(rich, 1_000)
        for wire in half { try watch(wire, 500) }
        _ = try other.result("persistence.watch", ["table": "t"])
        let plain = try home.connect()
        _ = try plain.result("Echo", 1)
        try end(daemon)
        try expectEnd(rich, because: "the plugin persistence could not hand its part of the session over")
        let line = home.log.split(separator: "\n").first { $0.contains("the session is not handed over: ") }
        let reason = "the plugin persistence cannot hand its part over: the result of "
        #expect(line?.contains(reason) == true && line?.contains("session=\(richNumber)") == true, "\(line ?? "")")
        #expect(line?.contains("uid=\(getuid())") == true, "\(line ?? "")")
        daemon = try start()
        #expect(home.log.contains("4 sessions continue, of 4 that were handed over"), "\(home.log.suffix(2_048))")
        let origin = String(repeating: "o", count: 1_000)
        let options: JSON = [
            "table": .string(longTable(499)), "namespace": .string("0:\(origin)"), "key": "k", "record": [:],
        ]
        _ = try plain.result("persistence.create", options)
        for wire in half { #expect(try wire.receive { $0["event"] == "record.changed" }["data"]?["key"] == "k") }
        _ = try plain.result("persistence.create", ["table": "t", "key": "k", "record": [:]])
        #expect(try other.receive { $0["event"] == "record.changed" }["data"]?["key"] == "k")
        try end(daemon)
    }

    /// Adds a plugin process in place of the daemon's own plugins. It handles messages with `other`, in Python.
    private func addPluginProcess(_ other: String, configuration: String = "") throws {
        var process = PluginInPython()
        process.other = other
        try process.write(to: home.folder)
        home.arguments += ["--plugin-dir", home.folder.path]
        try home.folder.write(configuration, to: "trestled.toml")
    }

    /// Returns Python code of a plugin process that saves a state of every session, unless `fails` does something else,
    /// and restores all sessions but one.
    private func keeping(_ fails: String, notRestoring lost: Int = 0) -> String {
        """
        if task == "plugin.save_sessions":
            numbers = m["options"]["sessions"]
            \(fails.replacing("\n", with: "\n    "))
            say({"callbackId": id, "result": {"states": {str(n): n for n in numbers}}}); continue
        if task == "plugin.restore_sessions":
            known = [int(n) for n in m["options"]["states"]]
            if \(lost) in known: say({"callbackId": id, "error": {"code": "no", "message": "nothing of it"}})
            else: say({"callbackId": id, "result": {"lost": []}})
            continue
        """
    }

    @Test("ends the sessions whose state a plugin cannot save, and those whose state it cannot restore")
    func pluginFails() throws {
        try addPluginProcess(
            keeping(
                """
                if 1 in numbers or 4 in numbers:
                    say({"callbackId": id, "error": {"code": "no", "message": "not of these"}}); continue
                """, notRestoring: 2))
        var daemon = try start()
        // The sessions are created in sequence; session 2 has another origin.
        let wires = try (1...5).map { number in
            let wire = try home.connect()
            _ = try wire.result("bridge.hello", number == 2 ? ["origin": "page:1"] : [:])
            return wire
        }
        #expect(try number(of: wires[4]) == 5)
        try end(daemon)
        for index in [0, 3] {
            try expectEnd(wires[index], because: "the plugin specimen could not hand its part of the session over")
        }
        daemon = try start()
        try expectEnd(wires[1], because: "the plugin specimen cannot continue this session: nothing of it")
        for index in [2, 4] { #expect(try wires[index].result("specimen", 1) == 1) }
        try end(daemon)
    }

    @Test("waits a bounded time for a plugin that does not save a session, and keeps the others")
    func pluginHangs() throws {
        try addPluginProcess(keeping("if 1 in numbers: continue"), configuration: "stop_timeout = \"3s\"\n")
        var daemon = try start()
        let wires = try (1...3).map { number in
            let wire = try home.connect()
            _ = try wire.result("bridge.hello", ["origin": .string("page:\(number)")])
            return wire
        }
        try end(daemon)
        try expectEnd(wires[0], because: "the plugin specimen could not hand its part of the session over")
        daemon = try start()
        for index in [1, 2] { #expect(try wires[index].call("bridge.ping")["error"] == nil) }
        try end(daemon)
    }

    @Test("ends all sessions whose state a plugin had not saved before its process ended")
    func pluginCrashes() throws {
        try addPluginProcess(keeping("os._exit(3)"))
        let daemon = try start()
        let wire = try home.connect()
        _ = try wire.result("bridge.ping")
        try end(daemon)
        try expectEnd(wire, because: "the plugin specimen could not hand its part of the session over")
    }

    // MARK: Sessions that exceed the limit

    /// Returns the descriptors of the daemon after the creation of a record and its event to the watching session.
    private func descriptors(of daemon: SpawnedProcess, after key: JSON, _ watcher: Wire) throws -> [String] {
        _ = try watcher.result("persistence.create", ["table": "t", "key": key, "record": [:]])
        #expect(try watcher.receive { $0["event"] == "record.changed" }["data"]?["key"] == key)
        return (0..<1_024).compactMap { number in
            var target = [CChar](repeating: 0, count: 1_024)
            let count = readlink("/proc/\(daemon.pid)/fd/\(number)", &target, target.count)
            guard count >= 0 else { return nil }
            // Without the inode of a socket or a pipe.
            let text = target[..<count].map { UInt8(bitPattern: $0) }
            return String(decoding: text.prefix { $0 != UInt8(ascii: "[") }, as: UTF8.self)
        }.sorted()
    }

    @Test("logs and ends sessions that exceed handover_bytes, and keeps all others")
    func noRoom() throws {
        try home.folder.write("[limits]\nhandover_bytes = \"256KiB\"\n", to: "trestled.toml")
        var daemon = try start()
        let (long, page, short) = (try home.connect(), try home.connect(), try home.connect())
        let numbers = try [long, page, short].map { try number(of: $0) }
        _ = try page.result("bridge.hello", ["origin": "page:1"])
        _ = try long.result("bridge.register", ["tasks": ["mine"]])
        _ = try short.result("persistence.watch", ["table": "t"])
        _ = try long.result("persistence.watch", ["table": "t"])
        // A line without its end, which the daemon reads before it answers another session's call.
        let cut = #"{"task":"Echo","callbackId":"late","options":""# + String(repeating: "x", count: 300_000)
        try long.send(bytes: Array(cut.utf8))
        try page.send(bytes: Array(cut.prefix(20_000).utf8))
        var unsent: Int32 = 1
        let deadline = Deadline()
        // SIOCOUTQ: the number of bytes that the daemon has not read.
        while unsent > 0, !deadline.isOver {
            _ = ioctl(long.descriptor, UInt(0x5411), &unsent)
            poll(nil, 0, 1)
        }
        #expect(unsent == 0)
        _ = try short.result("bridge.ping")
        try end(daemon)
        let reason = "the unread and unfinished messages exceed limits.handover_bytes (262144 bytes for all users)"
        try expectEnd(long, because: reason)
        let line = home.log.split(separator: "\n").first { $0.contains("the session is not handed over: \(reason)") }
        #expect(line?.contains("session=\(numbers[0])") == true, "\(line ?? "")")
        #expect(line?.contains("uid=\(getuid())") == true, "\(line ?? "")")
        #expect(home.log.contains("2 sessions were handed over"))
        // The table and two connections.
        var carried: [Int] = []
        try manager.replaceStored { parcel in
            var contents: [Int32] = []
            try DescriptorBundle(adopting: parcel).unpack { contents.append($0) }
            defer { for descriptor in contents { close(descriptor) } }
            carried.append(contents.count)
            let other = try DescriptorBundle.make(of: contents)
            // The descriptor closes at exec: the daemon gets only what is handed over to it, without a copy.
            return fcntl(other.descriptor, F_DUPFD_CLOEXEC, 0)
        }
        #expect(carried == [3], "\(home.log.suffix(2_048))")
        daemon = try start()
        // The line continues.
        try page.send(String(cut.dropFirst(20_000)) + "\"}")
        #expect(try page.receive { $0["callbackId"] == "late" }["result"]?.stringValue?.utf8.count == 300_000)
        let before = try descriptors(of: daemon, after: "k", short)
        #expect(try short.call("mine")["error"]?["code"] == "task.not_found")
        #expect(try short.result("bridge.sessions")["sessions"]?.arrayValue?.count == 2)
        _ = try? manager.keep(until: { _ in false }, within: 0)
        #expect(manager.stored.isEmpty)
        // The sessions that were not kept have left no descriptor.
        try end(daemon)
        daemon = try start()
        // Descriptors that the daemon opens for a moment, such as the pidfd of a peer, close again.
        var (more, rounds) = ([""], 0)
        let closing = Deadline()
        while !more.isEmpty, !closing.isOver {
            let after = try descriptors(of: daemon, after: .string("l\(rounds)"), short)
            more = after.difference(from: before).insertions.map { "\($0)" }
            rounds += 1
        }
        #expect(more.isEmpty)
        try end(daemon)
    }
}
