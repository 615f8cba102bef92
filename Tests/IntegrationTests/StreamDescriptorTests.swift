import BridgeJSON
import Testing

@Suite("Descriptors of streams that their receivers do not read", .blocking)
struct StreamDescriptorTests {
    @Test(
        "A client that attaches without reading gets 16 descriptors, delays no other client, and gets more later")
    func unread() throws {
        try withDaemon { daemon in
            let (deaf, writer) = (try daemon.connect(), try daemon.connect())
            let name = try deaf.result("bridge.hello", ["client": "deaf"])["session"]
            for number in 1...17 {
                let stream = try writer.result("bridge.stream.new")["stream"] ?? .null
                try deaf.send([
                    "task": "bridge.stream.attach", "options": ["stream": stream],
                    "callbackId": .number(JSONNumber(number)),
                ])
            }
            let isHandled = { (sessions: JSON) in
                sessions["sessions"]?.arrayValue?.contains { $0["session"] == name && $0["calls"] == 18 } == true
            }
            try writer.result("bridge.sessions", until: isHandled)
            let stream = try writer.result("bridge.stream.new")["stream"] ?? .null
            #expect(try writer.call("bridge.stream.attach", ["stream": stream])["result"] == [:])
            for number in 1...17 {
                let answer = try deaf.receive()
                #expect(answer["callbackId"] == .number(JSONNumber(number)))
                #expect(answer["error"]?["code"] == (number <= 16 ? nil : "busy"), "\(answer.text)")
            }
            let next = try writer.result("bridge.stream.new")["stream"] ?? .null
            #expect(try deaf.call("bridge.stream.attach", ["stream": next])["result"] == [:])
            deaf.close()
            try writer.result("bridge.status") { $0["sessions"] == 1 }
        }
    }

    @Test("A client that creates piped streams without reading gets 16 descriptors; all close after it disconnects")
    func made() throws {
        try withDaemon { daemon in
            let (deaf, other) = (try daemon.connect(), try daemon.connect())
            let name = try deaf.result("bridge.hello", ["client": "deaf"])["session"]
            _ = try other.result("bridge.ping")
            let before = try daemon.descriptorCount()
            for number in 1...200 {
                try deaf.send([
                    "task": "bridge.stream.new", "options": ["attach": true], "callbackId": .number(JSONNumber(number)),
                ])
            }
            let isHandled = { (sessions: JSON) in
                sessions["sessions"]?.arrayValue?.contains { $0["session"] == name && $0["calls"] == 201 } == true
            }
            try other.result("bridge.sessions", until: isHandled)
            // No other client is delayed.
            let own = try other.result("bridge.stream.new", ["attach": true])
            #expect(own["attached"] == true)
            var streams = [own["stream"] ?? .null]
            for number in 1...200 {
                let answer = try deaf.receive()
                #expect(answer["callbackId"] == .number(JSONNumber(number)))
                #expect(answer["result"]?["attached"] == (number <= 16 ? true : nil), "\(answer.text)")
                #expect(answer["error"]?["code"] == (number <= 64 ? nil : "quota.exceeded"), "\(answer.text)")
                if let stream = answer["result"]?["stream"] { streams.append(stream) }
            }
            deaf.close()
            try other.result("bridge.status") { $0["sessions"] == 1 }
            for stream in streams {
                // Closes as the reader, because the writer has disconnected. `other` has both ends of its own stream.
                _ = try other.result("bridge.stream.close", ["stream": stream, "side": "read"])
            }
            _ = try other.call("bridge.stream.close", ["stream": streams[0], "side": "write"])
            #expect(try other.result("bridge.status")["streams"] == 0)
            try daemon.awaitDescriptors(before, other)
        }
    }
}
