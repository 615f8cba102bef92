import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("Streams of plugins with short messages", .blocking)
struct ShortMessageTests {
    @Test("A plugin in C, in its own process, has a window that fits into one message")
    func room() throws {
        let folder = try TemporaryFolder()
        #expect(symlink(Paths.program("libCFixture.so"), folder.file("libCFixture.so")) == 0)
        let section = "limits.message_bytes = 1024\n[plugins.cfixture]\nisolation = \"process\""
        try withDaemon(section, pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            let made = try client.result("cfixture.use", ["operation": "new", "stream": nil])
            let (stream, room) = (made["name"] ?? .null, made["room"]?.int64Value ?? 0)
            #expect(room >= 600 && room < 1_024, "\(made)")
            let write: JSON = [
                "operation": "write", "stream": stream, "own": true, "count": .number(JSONNumber(room)),
            ]
            for _ in 0..<3 {
                try client.send(["task": "cfixture.use", "options": write, "callbackId": "written"])
                var left = Int(room)
                while left > 0 {
                    let text = try client.result("bridge.stream.read", ["stream": stream])["base64"]?.stringValue ?? ""
                    let bytes = Array(text.utf8).withUnsafeBytes { Base64Coding.decode($0) } ?? []
                    try #require(!bytes.isEmpty)
                    left -= bytes.count
                }
                let written = try client.receive { $0["callbackId"] == "written" }
                #expect(left == 0 && written["result"]?["room"]?.int64Value == room, "\(written)")
            }
        }
    }

    @Test("A plugin in Swift reads and writes in such messages", arguments: ["none", "process"])
    func turned(isolation: String) throws {
        let folder = try TemporaryFolder()
        #expect(symlink(Paths.program("libFixture.so"), folder.file("libFixture.so")) == 0)
        let section = "limits.message_bytes = 1024\n[plugins.fixture]\nisolation = \"\(isolation)\""
        try withDaemon(section, pluginDirectory: folder.path) { daemon in
            let (client, holder) = (try daemon.connect(), try daemon.connect())
            // Uses all pipes, so that the next stream uses messages.
            for number in 0..<64 {
                let stream = try holder.result("bridge.stream.new")["stream"] ?? .null
                let call = JSON.number(JSONNumber(number))
                try holder.send(["task": "fixture.read.later", "options": ["photo": stream], "callbackId": call])
                _ = try holder.receive { $0["callbackId"] == call }
            }
            let stream = try client.result("bridge.stream.new")["stream"] ?? .null
            try client.send(["task": "fixture.turn", "options": ["photo": stream], "callbackId": "turn"])
            for _ in 0..<4 {
                let text = JSON.string(String(repeating: "aGVs", count: 150))
                _ = try client.result("bridge.stream.write", ["stream": stream, "base64": text])
            }
            _ = try client.result("bridge.stream.close", ["stream": stream])
            let turned = try client.receive { $0["callbackId"] == "turn" }["result"]?["photo"] ?? .null
            let (bytes, end) = try client.read(turned)
            #expect(bytes == Array(repeating: Array("leh".utf8), count: 600).flatMap { $0 })
            #expect(end["result"] == ["end": true, "bytes": 1_800])
        }
    }
}
