import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("Streams of plugins in C", .blocking)
struct CStreamTests {
    static let isolations = ["none", "process"]

    func withPlugin(
        _ isolation: String, _ settings: String = "", _ body: (DaemonProcess, Wire) throws -> Void
    ) throws {
        let folder = try TemporaryFolder()
        #expect(symlink(Paths.program("libCFixture.so"), folder.file("libCFixture.so")) == 0)
        let section = "\(settings)\n[plugins.cfixture]\nisolation = \"\(isolation)\""
        try withDaemon(section, pluginDirectory: folder.path) { daemon in try body(daemon, daemon.connect()) }
    }

    func name(_ client: Wire, _ options: JSONObject = [:]) throws -> JSON {
        try client.result("bridge.stream.new", .object(options))["stream"] ?? .null
    }

    /// Makes the plugin call one of the stream functions. Returns the result that `done` received.
    func use(_ client: Wire, _ operation: JSON, _ stream: JSON, _ more: JSONObject = [:]) throws -> JSON {
        try client.result("cfixture.use", options(operation, stream, more))
    }

    func begin(
        _ client: Wire, _ operation: JSON, _ stream: JSON, _ more: JSONObject = [:], id: JSON
    ) throws {
        try client.send(["task": "cfixture.use", "options": options(operation, stream, more), "callbackId": id])
    }

    func options(_ operation: JSON, _ stream: JSON, _ more: JSONObject) -> JSON {
        var options = more
        options["operation"] = operation
        options["stream"] = stream
        return .object(options)
    }

    /// Expects that each call about a stream has ended and that `done` was called once for each.
    func expectAllEnded(_ client: Wire) throws {
        let counts = try client.result("cfixture.counts")
        #expect(counts["made"] == counts["ended"], "\(counts)")
        #expect(try client.result("bridge.status")["streams"] == 0)
    }

    /// Sends bytes without waiting for the callback.
    func send(_ bytes: [UInt8], to stream: JSON, end: Bool = false, _ client: Wire) throws {
        var text: [UInt8] = []
        bytes.withUnsafeBytes { Base64Coding.encode($0, to: &text) }
        let options: JSON = [
            "stream": stream, "base64": .string(String(decoding: text, as: UTF8.self)), "end": .bool(end),
        ]
        try client.send(["task": "bridge.stream.write", "options": options, "callbackId": "sent"])
    }

    func answer(_ client: Wire, to id: JSON) throws -> JSON {
        let message = try client.receive { $0["callbackId"] == id }
        return message["result"] ?? message
    }

    // MARK: Bytes

    @Test(
        "A plugin in C reads the stream of a call, with the declared type and length", arguments: isolations)
    func read(isolation: String) throws {
        try withPlugin(isolation) { _, client in
            let stream = try name(client, ["type": "text/plain", "bytes": 5])
            try begin(client, "read", stream, id: "first")
            try send(Array("hello".utf8), to: stream, end: true, client)
            let first = try answer(client, to: "first")
            #expect(first["text"] == "hello" && first["type"] == "text/plain" && first["total"] == 5)
            // The call that passed the name has ended; the plugin holds the end.
            let end = try use(client, "read", stream, ["own": true])
            #expect(end["flags"] == 1 && end["count"] == 5 && end["bytes"] == 0 && end["total"] == -1)
            #expect(try answer(client, to: "sent") == ["bytes": 5, "complete": true])
            try expectAllEnded(client)
        }
    }

    @Test(
        "A plugin in C writes a stream for its caller and learns when the reader has read it", arguments: isolations)
    func write(isolation: String) throws {
        try withPlugin(isolation) { _, client in
            let made = try use(client, "new", .null, ["typed": true, "total": 7])
            #expect(made["room"] == 262_144)
            let stream = made["name"] ?? .null
            try begin(client, "write", stream, ["own": true, "count": 7, "end": true], id: "written")
            let first = try client.result("bridge.stream.read", ["stream": stream])
            #expect(first == ["base64": "eHh4eHh4eA==", "type": "text/plain", "totalBytes": 7])
            #expect(try client.result("bridge.stream.read", ["stream": stream]) == ["end": true, "bytes": 7])
            let written = try answer(client, to: "written")
            #expect(written["flags"] == 2 && written["count"] == 7 && written["endedBy"] == 0)
            try expectAllEnded(client)
        }
    }

    @Test("A writer that declares its total completes if the total is right, and breaks the stream if not")
    func counted() throws {
        try withPlugin("none") { _, client in
            for (count, isRight) in [(7, true), (8, false)] {
                let stream = try use(client, "new", .null)["name"] ?? .null
                _ = try use(client, "write", stream, ["own": true, "count": 7])
                let total = JSON.number(JSONNumber(count))
                try begin(client, "close", stream, ["own": true, "total": total], id: "closed")
                let (bytes, end) = try client.read(stream)
                #expect(bytes.count == 7 && (end["error"] == nil) == isRight)
                let closed = try answer(client, to: "closed")
                #expect(isRight ? closed["flags"] == 2 : closed["error"] == "stream.invalid", "\(closed)")
            }
            try expectAllEnded(client)
        }
    }

    @Test("A write is answered when half of the window is free", arguments: isolations)
    func backPressure(isolation: String) throws {
        try withPlugin(isolation) { _, client in
            let stream = try use(client, "new", .null)["name"] ?? .null
            try begin(client, "write", stream, ["own": true, "count": 200_000], id: "written")
            try client.result("bridge.status") { $0["streamBytes"] == 200_000 }
            let counts = try client.result("cfixture.counts")
            #expect(counts == ["made": 2, "ended": 1])
            while try client.result("bridge.status")["streamBytes"] != 0 {
                _ = try client.result("bridge.stream.read", ["stream": stream])
            }
            let room = try answer(client, to: "written")["room"]?.int64Value ?? 0
            #expect(room >= 131_072)
            #expect(try use(client, "close", stream, ["own": true, "error": "cfixture.over"])["endedBy"] == 1)
            #expect(try client.call("bridge.stream.read", ["stream": stream])["error"]?["code"] == "stream.closed")
            try expectAllEnded(client)
        }
    }

    @Test("A plugin in C may hold the reader's end of a stream that it creates", arguments: isolations)
    func readerMade(isolation: String) throws {
        try withPlugin(isolation) { _, client in
            let stream = try use(client, "new", .null, ["reader": true])["name"] ?? .null
            try send([104, 105], to: stream, end: true, client)
            #expect(try use(client, "read", stream, ["own": true])["text"] == "hi")
            #expect(try use(client, "read", stream, ["own": true])["flags"] == 1)
            try expectAllEnded(client)
        }
    }

    // MARK: Early ends

    @Test("Each side gets the error with which the other one closes", arguments: isolations)
    func errors(isolation: String) throws {
        try withPlugin(isolation) { _, client in
            let read = try name(client)
            try begin(client, "read", read, id: "read")
            let error: JSON = ["code": "client.paper", "message": "no paper"]
            // The plugin holds its end before the first read is answered.
            try client.result("bridge.status") { $0["streams"] == 1 }
            try send([104], to: read, client)
            #expect(try answer(client, to: "read")["bytes"] == 1)
            _ = try client.result("bridge.stream.close", ["stream": read, "error": error])
            let broken = try use(client, "read", read, ["own": true])
            #expect(broken["error"] == "stream.closed")
            #expect(broken["data"] == ["by": "writer", "bytes": 1, "error": error])

            let written = try use(client, "new", .null)["name"] ?? .null
            let closed = try use(client, "close", written, ["own": true, "error": "cfixture.paper"])
            #expect(closed["endedBy"] == 1 && closed["given"] == "cfixture.paper" && closed["flags"] == 0)
            let answer = try client.call("bridge.stream.read", ["stream": written])
            #expect(answer["error"]?["data"]?["error"]?["code"] == "cfixture.paper", "\(answer)")
            try expectAllEnded(client)
        }
    }

    @Test("A message that is too long for the error of a stream is truncated", arguments: isolations)
    func longError(isolation: String) throws {
        try withPlugin(isolation) { _, client in
            let stream = try use(client, "new", .null)["name"] ?? .null
            let closed = try use(client, "close", stream, ["own": true, "error": "cfixture.long", "long": true])
            #expect(closed["given"] == "cfixture.long")
            let given = try client.call("bridge.stream.read", ["stream": stream])["error"]?["data"]?["error"]
            #expect(given?["message"]?.stringValue == String(repeating: "x", count: 512) + "…", "\(given ?? .null)")
            try expectAllEnded(client)
        }
    }

    @Test("A stream that a plugin holds for one caller does not exist for another", arguments: isolations)
    func anotherCaller(isolation: String) throws {
        try withPlugin(isolation) { daemon, client in
            let stranger = try daemon.connect()
            let stream = try use(client, "new", .null)["name"] ?? .null
            #expect(try use(stranger, "write", stream, ["count": 3])["error"] == "stream.not_found")
            #expect(try use(stranger, "close", stream)["error"] == "stream.not_found")
            try begin(client, "write", stream, ["own": true, "count": 1, "end": true], id: "written")
            #expect(try client.read(stream).bytes == [UInt8(ascii: "x")])
            #expect(try answer(client, to: "written")["flags"] == 2)
            try expectAllEnded(client)
        }
    }

    @Test("A call that waits for a client that disconnects ends once", arguments: isolations)
    func cut(isolation: String) throws {
        try withPlugin(isolation) { daemon, client in
            let other = try daemon.connect()
            let stream = try name(other)
            #expect(try use(other, "read", stream, ["left": true]) == "left")
            #expect(try client.result("cfixture.counts") == ["made": 1, "ended": 0])
            other.close()
            try client.result("cfixture.counts") { $0["ended"] == 1 }
            #expect(try client.result("bridge.status")["streams"] == 0)
        }
    }

    @Test("A read outlives the cancelled call that started it, and ends with its stream", arguments: isolations)
    func cancelled(isolation: String) throws {
        try withPlugin(isolation) { _, client in
            let stream = try name(client)
            try begin(client, "read", stream, id: "read")
            try client.result("bridge.calls") { calls in
                calls["calls"]?.arrayValue?.contains { $0["task"] == "bridge.stream.read" } == true
            }
            try client.send(["cancel": "read"])
            #expect(try answer(client, to: "read")["error"]?["code"] == "call.cancelled")
            #expect(try client.result("cfixture.counts") == ["made": 1, "ended": 0])
            try send([1], to: stream, end: true, client)
            try client.result("cfixture.counts") { $0["ended"] == 1 }
        }
    }

    @Test("A read may have a timeout, and consumes nothing if it expires", arguments: isolations)
    func late(isolation: String) throws {
        try withPlugin(isolation) { _, client in
            let stream = try name(client)
            #expect(try use(client, "read", stream, ["timeout": 20])["error"] == "call.timeout")
            try send([104, 105], to: stream, end: true, client)
            #expect(try use(client, "read", stream, ["own": true])["text"] == "hi")
            #expect(try use(client, "close", stream, ["own": true])["count"] == 2)
            try expectAllEnded(client)
        }
    }

    @Test("Calls in progress end once, before the plugin is asked to stop", arguments: isolations)
    func unloaded(isolation: String) throws {
        try withPlugin(isolation, "stop_timeout = \"50ms\"") { daemon, client in
            let read = try name(client)
            _ = try use(client, "read", read, ["left": true])
            let written = try use(client, "new", .null)["name"] ?? .null
            _ = try use(client, "write", written, ["own": true, "count": 200_000, "left": true])
            _ = try use(client, "close", written, ["own": true, "left": true])
            _ = try client.result("bridge.plugin.unload", ["name": "cfixture"])
            #expect(daemon.log.contains("streams at the stop: made 4, ended 4"))
            #expect(try client.call("bridge.stream.write", ["stream": read, "base64": "AAAA"])["error"] != nil)
            // The writer had closed this stream: its reader gets all bytes.
            let (bytes, end) = try client.read(written)
            #expect(bytes.count == 200_000 && end["result"]?["end"] == true)
        }
    }
}
