import BridgeJSON
import Glibc
import Testing

@Suite("On the real socket", .blocking)
struct TransportTests {
    @Test("a message that arrives byte by byte is one message")
    func singleBytes() throws {
        try withDaemon { daemon in
            let client = try daemon.connect()
            for byte in Array(#"{"task":"Echo","options":{"é":"😀"},"callbackId":"b"}"#.utf8) {
                try client.send(bytes: [byte])
            }
            // The sent bytes have been read when another client gets its answer; they are not a complete message yet.
            #expect(try daemon.connect().result("Echo", 1) == 1)
            #expect(client.lineAtHand() == nil)
            try client.send(bytes: [0x0A])
            #expect(try client.receive() == ["callbackId": "b", "result": ["é": "😀"]])
        }
    }

    @Test("lines may end with CRLF, and empty lines are ignored")
    func lineEnds() throws {
        try withDaemon { daemon in
            let client = try daemon.connect()
            try client.send(bytes: Array("\r\n\n{\"task\":\"Echo\",\"options\":1,\"callbackId\":1}\r\n\n\r\n".utf8))
            client.shutdownWrite()
            #expect(try client.receiveAll() == [["callbackId": 1, "result": 1]])
        }
    }

    @Test("every message of a batch is answered separately, also an invalid one")
    func batch() throws {
        try withDaemon { daemon in
            let client = try daemon.connect()
            try client.send(#"[{"task":"Echo","callbackId":1,"options":"a"},7,{"task":"nobody","callbackId":"2"},{}]"#)
            try client.send("[]")
            client.shutdownWrite()
            let answers = try client.receiveAll()
            #expect(answers.count == 5)
            #expect(answers.contains(["callbackId": 1, "result": "a"]))
            #expect(answers.count { $0["error"]?["code"] == "message.invalid" && $0["callbackId"] == .null } == 3)
            #expect(answers.contains { $0["callbackId"] == "2" && $0["error"]?["code"] == "task.not_found" })
        }
    }

    @Test("long lines and short ones are answered in their order, also within a batch", arguments: [false, true])
    func longLines(isBatch: Bool) throws {
        try withDaemon { daemon in
            let client = try daemon.connect()
            let other = try daemon.connect()
            let zeros = "[" + String(repeating: "0,", count: 100_000) + "0]"
            let escapes = "\"" + String(repeating: "\\u00e9é", count: 40_000) + "\""
            let calls = [zeros, "1", escapes, "2", "[", zeros].enumerated().map {
                #"{"task":"Echo","callbackId":\#($0),"options":\#($1)}"#
            }
            let good = calls.enumerated().filter { $0.offset != 4 }.map(\.element)
            let lines = isBatch ? ["[" + good.joined(separator: ",") + "]"] : calls
            try client.send(bytes: Array(lines.joined(separator: "\n").utf8))
            #expect(try other.result("Echo", 1) == 1)
            try client.send(bytes: [0x0A])
            client.shutdownWrite()
            let answers = try client.receiveAll()
            #expect(answers.map { $0["callbackId"] } == (isBatch ? [0, 1, 2, 3, 5] : [0, 1, 2, 3, 4, 5]))
            #expect(answers.first?["result"]?.arrayValue?.count == 100_001)
            try #require(answers.count > 4)
            #expect(answers[2]["result"]?.stringValue?.count == 80_000)
            if !isBatch { #expect(answers[4]["error"]?["code"] == "message.invalid") }
            #expect(answers.last?["result"] == answers.first?["result"])
        }
    }

    @Test("a long batch of JSON-RPC gets one array of answers")
    func longRPCBatch() throws {
        try withDaemon { daemon in
            let client = try daemon.connect()
            let calls = (0..<2000).map { #"{"jsonrpc":"2.0","method":"Echo","params":{"n":\#($0)},"id":\#($0)}"# }
            try client.send("[" + calls.joined(separator: ",") + "]")
            let answers = try client.receive().arrayValue
            #expect(answers?.map { $0["result"]?["n"] } == (0..<2000).map { .number(JSONNumber($0)) })
        }
    }

    @Test("a long line of many values that exceed the memory quota is refused, and the next line is not")
    func longLineBeyondQuota() throws {
        try withDaemon("quotas.queued_bytes = \"2MiB\"") { daemon in
            let client = try daemon.connect()
            // The daemon stores a note for each item of a batch, which takes ten times the size of the line.
            try client.send("[" + String(repeating: "0,", count: 300_000) + "0]")
            #expect(try client.receive()["error"]?["code"] == "busy")
            #expect(try client.result("Echo", 1) == 1)
        }
    }

    @Test(
        "a line of exactly the limit is accepted, a longer one gets an error, and the connection stays open",
        arguments: [false, true])
    func longestLine(withCarriageReturn: Bool) throws {
        try withDaemon("limits.message_bytes = \"64KiB\"") { daemon in
            let client = try daemon.connect()
            func send(lineBytes: Int, id: Int) throws -> Int {
                let start = "{\"task\":\"Echo\",\"callbackId\":\(id),\"options\":\""
                let fillingBytes = lineBytes - start.utf8.count - 2
                let line = start + String(repeating: "x", count: fillingBytes) + "\"}"
                try client.send(withCarriageReturn ? line + "\r" : line)
                return fillingBytes
            }
            let fillingBytes = try send(lineBytes: 65_536, id: 1)
            #expect(try client.receive()["result"]?.stringValue?.utf8.count == fillingBytes)
            for (id, lineBytes) in [(2, 65_537), (3, 1_000_000)] {
                _ = try send(lineBytes: lineBytes, id: id)
                let answer = try client.receive()
                #expect(answer["callbackId"] == JSON.number(JSONNumber(id)))
                #expect(answer["error"]?["code"] == "message.too_large")
            }
            #expect(try client.result("Echo", "still here") == "still here")
        }
    }

    @Test(
        "a line that is not JSON gets an error, with the id if there is one, and the connection stays open",
        arguments: [
            (#"{"task":"Echo","callbackId":"a","options":tru}"#, JSON.string("a")), ("nonsense", .null),
            (#"{"callbackId":"\ud800","task":"Echo"}"#, .null), (#"{"task":"Echo","task":"Echo","callbackId":4}"#, 4),
        ] as [(String, JSON)])
    func invalid(line: String, id: JSON) throws {
        try withDaemon { daemon in
            let client = try daemon.connect()
            try client.send(line)
            let answer = try client.receive()
            #expect(answer["error"]?["code"] == "message.invalid")
            #expect(answer["callbackId"] == id)
            #expect(try client.result("Echo", "still here") == "still here")
        }
    }

    @Test("bytes that are not UTF-8 get an error and are not echoed")
    func invalidUTF8() throws {
        try withDaemon { daemon in
            let client = try daemon.connect()
            let (start, end) = (Array(#"{"task":"Echo","callbackId":1,"options":""#.utf8), Array("\"}\n".utf8))
            try client.send(bytes: start + [0xC3, 0x28] + end)
            #expect(try client.receive()["error"]?["code"] == "message.invalid")
            #expect(try client.result("Echo", "still here") == "still here")
        }
    }

    @Test("the daemon does not send before the client does")
    func noGreeting() throws {
        try withDaemon { daemon in
            let silent = try daemon.connect()
            // The session exists when another client sees it.
            let sessions = try daemon.connect().result("bridge.sessions")["sessions"]?.arrayValue
            #expect((sessions?.count ?? 0) >= 2)
            #expect(silent.lineAtHand() == nil)
            #expect(!silent.hasEnded)
        }
    }

    // MARK: Ends

    @Test("a client that closes its sending side gets every outstanding callback, then the end of input")
    func halfClose() throws {
        try withDaemon { daemon in
            let provider = try daemon.connect()
            _ = try provider.result("bridge.register", ["tasks": ["slow"]])
            let client = try daemon.connect()
            for id in 1...3 { try client.send(#"{"task":"slow","callbackId":\#(id)}"#) }
            client.shutdownWrite()
            for _ in 1...3 {
                let id = try #require(try provider.receive()["callbackId"])
                try provider.send(["callbackId": id, "result": "done"])
            }
            let answers = try client.receiveAll()
            #expect(Set(answers.compactMap { $0["callbackId"]?.int64Value }) == [1, 2, 3])
            #expect(answers.count == 3)
        }
    }

    @Test("a last line without a line end is a message")
    func unterminatedLine() throws {
        try withDaemon { daemon in
            let client = try daemon.connect()
            try client.send(bytes: Array(#"{"task":"Echo","options":1,"callbackId":1}"#.utf8))
            client.shutdownWrite()
            #expect(try client.receiveAll() == [["callbackId": 1, "result": 1]])
        }
    }

    @Test("the calls of a client that disconnects are cancelled")
    func hangUp() throws {
        try withDaemon { daemon in
            let provider = try daemon.connect()
            _ = try provider.result("bridge.register", ["tasks": ["slow"]])
            let client = try daemon.connect()
            try client.send(#"{"task":"slow","callbackId":1}"#)
            let call = try provider.receive()
            client.close()
            #expect(try provider.receive() == ["cancel": call["callbackId"] ?? .null])
        }
    }

    @Test("the calls of a client that closes its sending side and then disconnects are cancelled")
    func hangUpAfterHalfClose() throws {
        try withDaemon { daemon in
            let provider = try daemon.connect()
            _ = try provider.result("bridge.register", ["tasks": ["slow"]])
            let client = try daemon.connect()
            try client.send(#"{"task":"slow","callbackId":1}"#)
            client.shutdownWrite()
            let call = try provider.receive()
            client.close()
            #expect(try provider.receive() == ["cancel": call["callbackId"] ?? .null])
        }
    }
}
