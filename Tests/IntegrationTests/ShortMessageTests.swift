import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("Streams of plugins, where messages are short", .blocking)
struct ShortMessageTests {
    @Test("A plugin in C, in a process, has room for what goes into one message")
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
}
