import BridgeJSON
import Glibc
import TestSupport
import Testing

extension CStreamTests {
    @Test("Invalid uses of a stream get one error each", arguments: isolations)
    func misuse(isolation: String) throws {
        try withPlugin(isolation) { daemon, client in
            let stranger = try daemon.connect()
            let strange = try name(stranger)
            for own in [false, true] {
                let more: JSONObject = ["own": .bool(own)]
                #expect(try use(client, "read", strange, more)["error"] == "stream.not_found")
                #expect(try use(client, "close", "stream:0", more)["error"] == "stream.not_found")
                var nameless = more
                nameless["nameless"] = true
                #expect(try use(client, "write", .null, nameless)["error"] == "stream.not_found")
            }
            let there = try use(client, "new", .null, ["thread": true])
            #expect(there["error"] == "stream.invalid" && there["ended"] == 1)

            let stream = try use(client, "new", .null)["name"] ?? .null
            #expect(try use(client, "read", stream, ["own": true])["error"] == "stream.invalid")
            try begin(client, "close", stream, ["own": true], id: "closed")
            let again = try use(client, "close", stream, ["own": true])
            #expect(again["error"] == "stream.invalid")
            #expect(try client.read(stream).end["result"] == ["end": true, "bytes": 0])
            #expect(try answer(client, to: "closed")["flags"] == 2)
            #expect(try use(client, "close", stream, ["own": true])["error"] == "stream.not_found")
            // Otherwise the stream waits for its reader.
            let over: JSON = ["code": "client.over", "message": "over"]
            _ = try stranger.result("bridge.stream.close", ["stream": strange, "error": over])
            #expect(try stranger.call("bridge.stream.read", ["stream": strange])["error"]?["code"] == "stream.closed")
            try expectAllEnded(client)
        }
    }

    @Test("A write larger than the window breaks the stream", arguments: isolations, [262_145, 2_000_000])
    func tooMuch(isolation: String, count: Int) throws {
        try withPlugin(isolation) { _, client in
            let stream = try use(client, "new", .null)["name"] ?? .null
            let count = JSON.number(JSONNumber(count))
            #expect(try use(client, "write", stream, ["own": true, "count": count])["error"] == "quota.exceeded")
            let (bytes, end) = try client.read(stream)
            #expect(bytes.isEmpty && end["error"]?["code"] == "stream.closed")
            try expectAllEnded(client)
        }
    }

    @Test("A plugin that does not read blocks only the writer of that stream", arguments: isolations)
    func neverReads(isolation: String) throws {
        try withPlugin(isolation) { _, client in
            let stream = try name(client)
            try begin(client, "read", stream, ["count": 1], id: "read")
            for _ in 0..<3 { try send(Array(repeating: 104, count: 50_000), to: stream, client) }
            #expect(try answer(client, to: "read")["bytes"] == 1)
            let status = try client.result("bridge.status")
            #expect(status["streamBytes"] == 149_999)
            // The plugin's other calls continue.
            #expect(try client.result("cfixture.counts")["made"] == 1)
            #expect(try use(client, "close", stream, ["own": true])["endedBy"] == 2)
        }
    }

    // MARK: Inside `done`

    @Test("A plugin in C reads again inside `done`, any number of times", arguments: isolations)
    func again(isolation: String) throws {
        try withPlugin(isolation) { _, client in
            let stream = try name(client)
            try begin(client, "read", stream, ["count": 1, "next": "again"], id: "read")
            try send(Array(repeating: 7, count: 10_000), to: stream, end: true, client)
            let end = try answer(client, to: "read")
            #expect(end["flags"] == 1 && end["read"] == 10_000 && end["ended"] == 10_001, "\(end)")
            #expect(try answer(client, to: "sent")["complete"] == true)
            try expectAllEnded(client)
        }
    }

    @Test("A plugin in C closes the stream inside `done`", arguments: isolations)
    func closedInside(isolation: String) throws {
        try withPlugin(isolation) { _, client in
            let stream = try name(client)
            try begin(client, "read", stream, ["next": "close", "error": "cfixture.enough"], id: "read")
            try send([1, 2, 3], to: stream, client)
            let closed = try answer(client, to: "read")
            #expect(closed["endedBy"] == 2 && closed["given"] == "cfixture.enough" && closed["ended"] == 2)
            var answer: JSON = [:]
            while answer["error"] == nil {
                answer = try client.call("bridge.stream.write", ["stream": stream, "base64": "AAAA"])
            }
            #expect(answer["error"]?["data"]?["by"] == "reader")
            try expectAllEnded(client)
        }
    }
}
