import BridgeJSON
import Testing

@Suite("Descriptors of streams that their receivers do not take", .blocking)
struct StreamDescriptorTests {
    @Test("A client that attaches and never reads gets 16 descriptors, holds up nobody, and gets more once it has read")
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
}
