import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("The stop of plugins that hold streams", .blocking)
struct HeldStreamTests {
    private let bytes = (0..<1_000_003).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) }

    private func withFixture(
        _ isolation: String, stopTimeout: String, _ body: (TemporaryFolder, Wire) throws -> Void
    ) throws {
        let folder = try TemporaryFolder()
        #expect(symlink(Paths.program("libFixture.so"), folder.file("libFixture.so")) == 0)
        let configuration = "stop_timeout = \"\(stopTimeout)\"\n[plugins.fixture]\nisolation = \"\(isolation)\""
        try withDaemon(configuration, pluginDirectory: folder.path) { daemon in try body(folder, daemon.connect()) }
    }

    /// Returns a stream that the plugin writes after its call. It has more bytes than the daemon buffers.
    private func turned(_ client: Wire) throws -> JSON {
        let photo = try client.result("bridge.stream.new")["stream"] ?? .null
        try client.send(["task": "fixture.turn", "options": ["photo": photo], "callbackId": "turn"])
        _ = try client.write(bytes, to: photo)
        return try client.receive { $0["callbackId"] == "turn" }["result"]?["photo"] ?? .null
    }

    private func process(_ client: Wire) throws -> Int32? {
        try client.result("bridge.plugins")["plugins"]?[0]?["pid"]?.int64Value.map { Int32($0) }
    }

    /// Expects that nothing of the old plugin is left: no plugin, no stream end, no byte, no process.
    private func expectNothingLeft(_ process: Int32?, plugins: Int, _ client: Wire) throws {
        try client.result("bridge.plugins") { $0["plugins"]?.arrayValue?.count == plugins }
        let status = try client.result("bridge.status")
        #expect(status["streams"] == 0 && status["streamBytes"] == 0)
        guard let process else { return }
        let deadline = Deadline()
        while kill(process, 0) == 0, !deadline.isOver { poll(nil, 0, 5) }
        #expect(errno == ESRCH)
    }

    @Test("A plugin that is reloaded while it writes a stream completes the stream", arguments: ["none", "process"])
    func reloaded(isolation: String) throws {
        try withFixture(isolation, stopTimeout: "5s") { _, client in
            let stream = try turned(client)
            let old = try process(client)
            #expect((old != nil) == (isolation == "process"))
            _ = try client.result("bridge.plugin.reload", ["name": "fixture"])
            #expect(try client.result("bridge.status")["streams"] == 1)
            let (read, end) = try client.read(stream)
            #expect(read == bytes.reversed())
            #expect(end["result"] == ["end": true, "bytes": .number(JSONNumber(bytes.count))])
            try expectNothingLeft(old, plugins: 1, client)
            #expect(try old == nil || process(client) != old)
        }
    }

    @Test(
        "A plugin ends after stop_timeout if its reader stalls, which gets an error", arguments: ["none", "process"])
    func stalled(isolation: String) throws {
        try withFixture(isolation, stopTimeout: "50ms") { _, client in
            let stream = try turned(client)
            let old = try process(client)
            _ = try client.result("bridge.plugin.reload", ["name": "fixture"])
            try client.result("bridge.plugins") { $0["plugins"]?.arrayValue?.count == 1 }
            let (read, end) = try client.read(stream)
            #expect(bytes.reversed().starts(with: read) && read.count < bytes.count)
            #expect(end["error"]?["code"] == "stream.closed")
            try expectNothingLeft(old, plugins: 1, client)
        }
    }

    @Test("An unload ends with the plugin's stream; no other change of plugins waits for it")
    func unloaded() throws {
        try withFixture("process", stopTimeout: "1m") { folder, client in
            let stream = try turned(client)
            let old = try process(client)
            try client.send(#"{"task":"bridge.plugin.unload","options":{"name":"fixture"},"callbackId":"u"}"#)
            let path = JSON.string(folder.file("libFixture.so"))
            #expect(try client.result("bridge.plugin.load", ["path": path])["name"] == "fixture")
            #expect(try client.result("bridge.status")["streams"] == 1)
            let (read, end) = try client.read(stream)
            #expect(read == bytes.reversed() && end["result"]?["end"] == true)
            #expect(try client.receive { $0["callbackId"] == "u" }["result"] != nil)
            try expectNothingLeft(old, plugins: 1, client)
        }
    }

    // MARK: Pools

    /// Runs `body` with a pool of a plugin that answers with its process ID. With the options "read" it also answers
    /// with a stream that it reads after the call.
    private func withPool(_ pool: String, _ settings: String = "", _ body: (Wire) throws -> Void) throws {
        var plugin = PluginInPython(settings: "[pool]\n\(pool)")
        plugin.start = "asked = []"
        plugin.call = """
            if m["options"] == "read":
                asked[:] = [id]
                new = {"task": "bridge.stream.new", "options": {"side": "read"}, "caller": id, "callbackId": "new"}
                return say(new)
            say({"callbackId": id, "result": os.getpid()})
            """
        plugin.other = """
            if id == "new":
                asked.append(m["result"]["stream"])
                say({"callbackId": asked[0], "result": [os.getpid(), asked[1]]})
            if id == "new" or id == "read" and "base64" in m.get("result", {}):
                say({"task": "bridge.stream.read", "options": {"stream": asked[1]}, "callbackId": "read"})
            if id in ("new", "read"): continue
            """
        let folder = try TemporaryFolder()
        try plugin.write(to: folder)
        try withDaemon(settings, pluginDirectory: folder.path) { daemon in try body(daemon.connect()) }
    }

    private func pool(_ client: Wire, until isWanted: (JSON) -> Bool) throws {
        try client.result("bridge.plugins") { isWanted($0["plugins"]?[0]?["pool"] ?? .null) }
    }

    @Test("A pool reserves a process that holds a stream end for that stream's caller until it closes")
    func held() throws {
        try withPool("min = 2\nmax = 2") { client in
            try pool(client) { $0["reusable"] == 2 }
            let made = try client.result("specimen", "read")
            for _ in 0..<4 { #expect(try client.result("specimen") != made[0]) }
            try pool(client) { $0["inUse"] == 1 && $0["reusable"] == 1 }
            #expect(try client.write([1, 2, 3], to: made[1] ?? .null)["result"]?["complete"] == true)
            try pool(client) { $0["inUse"] == 0 && $0["reusable"] == 2 && $0["recycled"] == 0 }
            #expect(try client.result("bridge.status")["streams"] == 0)
        }
    }

    @Test("A call waits for the only process of a pool while this holds a stream end")
    func waiting() throws {
        try withPool("min = 1\nmax = 1") { client in
            let made = try client.result("specimen", "read")
            try client.send(#"{"task":"specimen","callbackId":"next"}"#)
            try client.result("bridge.status") { $0["waitingCalls"] == 1 }
            #expect(try client.write([1, 2, 3], to: made[1] ?? .null)["result"]?["complete"] == true)
            #expect(try client.receive { $0["callbackId"] == "next" }["result"] == made[0])
        }
    }

    @Test("If the stream of a busy process stalls while a call waits, the process is replaced and the stream breaks")
    func replaced() throws {
        try withPool("min = 1\nmax = 1", "plugin_timeout = \"10s\"") { client in
            let made = try client.result("specimen", "read")
            _ = try client.result("bridge.stream.write", ["stream": made[1] ?? .null, "base64": "AAAA"])
            #expect(try client.result("specimen") != made[0])
            let written = try client.write([1, 2, 3], to: made[1] ?? .null)
            #expect(written["error"]?["code"] == "stream.closed", "\(written)")
            try pool(client) { $0["recycled"] == 1 }
            #expect(try client.result("bridge.status")["streams"] == 0)
        }
    }
}
