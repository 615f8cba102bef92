import BridgeJSON
import TestSupport
import Testing

// Stream ends of plugins in C that are pipes.
extension CStreamTests {
    @Test("A plugin in C reads from a pipe what a client writes in messages", arguments: isolations)
    func readPipe(isolation: String) throws {
        try withPlugin(isolation) { _, client in
            let stream = try name(client, ["type": "text/plain", "bytes": 50_000])
            let attached = try use(client, "attach", stream, ["side": 2])
            #expect(attached["attached"] == true && attached["type"] == "text/plain" && attached["total"] == 50_000)
            try begin(client, "readPipe", .null, id: "piped")
            try begin(client, "read", stream, ["own": true], id: "end")
            try send(Array(repeating: 104, count: 50_000), to: stream, end: true, client)
            #expect(try answer(client, to: "piped") == ["read": 50_000])
            let end = try answer(client, to: "end")
            #expect(end["flags"] == 1 && end["count"] == 50_000 && end["bytes"] == 0)
            #expect(try use(client, "close", stream, ["own": true, "total": 50_000])["flags"] == 2)
            #expect(try answer(client, to: "sent") == ["bytes": 50_000, "complete": true])
            try expectAllEnded(client)
        }
    }

    @Test("A plugin in C writes to a pipe what a client reads in messages", arguments: isolations)
    func writePipe(isolation: String) throws {
        try withPlugin(isolation) { _, client in
            let stream = try use(client, "new", .null)["name"] ?? .null
            #expect(try use(client, "attach", stream, ["own": true, "side": 1])["attached"] == true)
            #expect(try use(client, "writePipe", .null, ["count": 5_000]) == ["read": 5_000])
            try begin(client, "close", stream, ["own": true, "total": 5_000], id: "closed")
            let (bytes, end) = try client.read(stream)
            #expect(bytes == Array(repeating: UInt8(ascii: "x"), count: 5_000))
            #expect(end["result"] == ["end": true, "bytes": 5_000])
            #expect(try answer(client, to: "closed")["flags"] == 2)
            try expectAllEnded(client)
        }
    }

    @Test("A plugin in C gets the pipe of a new stream together with its name", arguments: isolations)
    func madeWithPipe(isolation: String) throws {
        try withPlugin(isolation) { _, client in
            for count in [5_000, 6_000] {
                let made = try use(client, "new", .null, ["piped": true])
                let stream = made["name"] ?? .null
                #expect(made["attached"] == true && made["room"] != nil)
                #expect(try use(client, "writePipe", .null, ["count": .number(JSONNumber(count))])["read"] != nil)
                try begin(client, "close", stream, ["own": true, "total": .number(JSONNumber(count))], id: "closed")
                let (bytes, end) = try client.read(stream)
                #expect(bytes == Array(repeating: UInt8(ascii: "x"), count: count))
                #expect(end["result"] == ["end": true, "bytes": .number(JSONNumber(count))])
                #expect(try answer(client, to: "closed")["flags"] == 2)
            }
            try expectAllEnded(client)
        }
    }

    @Test("A plugin in C that calls bridge.stream.new through the general call function gets no descriptor")
    func calledAsTask() throws {
        for isolation in Self.isolations {
            try withPlugin(isolation) { daemon, client in
                _ = try use(client, "callNew", .null)
                let before = try daemon.descriptorCount()
                for _ in 0..<20 {
                    let made = try use(client, "callNew", .null)
                    #expect(made["attached"] == nil)
                    if isolation == "process" {
                        #expect(made == ["error": "stream.invalid"])
                    } else {
                        let stream = made["stream"] ?? .null
                        _ = try use(client, "close", stream, ["own": true, "side": 1, "error": "cfixture.over"])
                    }
                }
                try daemon.awaitDescriptors(before, client)
                // The stream functions get the right descriptors afterwards.
                let made = try use(client, "new", .null, ["piped": true])
                #expect(made["attached"] == true)
                #expect(try use(client, "writePipe", .null, ["count": 5_000])["read"] == 5_000)
                try begin(client, "close", made["name"] ?? .null, ["own": true, "total": 5_000], id: "closed")
                #expect(try client.read(made["name"] ?? .null).bytes.count == 5_000)
                #expect(try answer(client, to: "closed")["flags"] == 2)
            }
        }
    }

    @Test("A pipe that carried fewer bytes than its writer declares breaks the stream", arguments: isolations)
    func fewer(isolation: String) throws {
        try withPlugin(isolation) { _, client in
            let stream = try use(client, "new", .null)["name"] ?? .null
            _ = try use(client, "attach", stream, ["own": true, "side": 1])
            _ = try use(client, "writePipe", .null, ["count": 5_000])
            try begin(client, "close", stream, ["own": true, "total": 6_000], id: "closed")
            #expect(try client.read(stream).end["error"]?["code"] == "stream.closed")
            #expect(try answer(client, to: "closed")["flags"] == 0)
            try expectAllEnded(client)
        }
    }

    @Test("An end that was used for messages cannot become a pipe", arguments: isolations)
    func used(isolation: String) throws {
        try withPlugin(isolation) { _, client in
            let stream = try use(client, "new", .null)["name"] ?? .null
            try begin(client, "write", stream, ["own": true, "count": 1], id: "written")
            #expect(try use(client, "attach", stream, ["own": true])["error"] == "stream.invalid")
            try begin(client, "close", stream, ["own": true], id: "closed")
            #expect(try client.read(stream).bytes == [UInt8(ascii: "x")])
            #expect(try answer(client, to: "closed")["flags"] == 2)
            try expectAllEnded(client)
        }
    }

    @Test("A plugin in C that holds both ends of a stream closes the one that it specifies", arguments: isolations)
    func side(isolation: String) throws {
        try withPlugin(isolation) { _, client in
            let stream = try use(client, "new", .null, ["own": true])["name"] ?? .null
            try begin(client, "read", stream, ["own": true], id: "read")
            let closed = try use(client, "close", stream, ["own": true, "side": 2])
            #expect(closed["endedBy"] == 2)
            #expect(try answer(client, to: "read")["error"] == "stream.closed")
            #expect(try use(client, "write", stream, ["own": true, "count": 1])["error"] == "stream.closed")
            try expectAllEnded(client)
        }
    }

    @Test("Ends that are no longer held leave no open descriptor", arguments: isolations)
    func unloadedWithPipes(isolation: String) throws {
        try withPlugin(isolation, "stop_timeout = \"50ms\"") { daemon, client in
            // The first round may open descriptors that stay open.
            var before: Int?
            for _ in 0..<8 {
                let stream = try use(client, "new", .null)["name"] ?? .null
                _ = try use(client, "attach", stream, ["own": true, "side": 1])
                _ = try use(client, "writePipe", .null, ["count": 1])
                _ = try use(client, "close", stream, ["own": true, "error": "cfixture.over"])
                #expect(try client.read(stream).end["error"]?["code"] == "stream.closed")
                if let before { try daemon.awaitDescriptors(before, client) }
                before = try before ?? daemon.descriptorCount()
            }
            try expectAllEnded(client)
        }
    }
}
