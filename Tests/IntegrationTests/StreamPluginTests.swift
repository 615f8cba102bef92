import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("Streams of plugins in Swift", .blocking)
struct StreamPluginTests {
    /// The tasks that reverse the bytes once.
    private let turning: Set<JSON> = ["fixture.turn", "fixture.turn.thread"]

    /// Makes the plugin reverse bytes. Returns the end or the error of its stream.
    private func turn(_ bytes: [UInt8], by task: JSON = "fixture.turn", _ client: Wire) throws -> JSON {
        let stream = try client.result("bridge.stream.new")["stream"] ?? .null
        try client.send(["task": task, "options": ["photo": stream], "callbackId": "turn"])
        let written = try client.write(bytes, to: stream)
        #expect(written["result"]?["complete"] == true)
        let turned = try client.receive { $0["callbackId"] == "turn" }["result"]?["photo"] ?? .null
        let (read, end) = try client.read(turned)
        if end["error"] == nil { #expect(read == (turning.contains(task) ? bytes.reversed() : bytes)) }
        return end["error"] ?? end["result"] ?? .null
    }

    @Test("A task reads the stream of its caller and answers with a stream", arguments: ["none", "process"])
    func turned(isolation: String) throws {
        try withFixture(isolation) { _, _, client in
            for count in [0, 1, 1_000_003] {
                let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) }
                let end = try turn(bytes, client)
                #expect(end == ["end": true, "bytes": .number(JSONNumber(count))])
            }
            let status = try client.result("bridge.status")
            #expect(status["streams"] == 0)
        }
    }

    @Test(
        "A task passes the stream of its caller to another task, and reads the answer of that task",
        arguments: ["none", "process"])
    func handedOn(isolation: String) throws {
        try withFixture(isolation) { _, _, client in
            let bytes = (0..<300_001).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) }
            let end = try turn(bytes, by: "fixture.turn.twice", client)
            #expect(end == ["end": true, "bytes": 300_001])
            let status = try client.result("bridge.status")
            #expect(status["streams"] == 0)
        }
    }

    @Test(
        "A task reads and writes on a blocking thread, which is released if the call is cancelled",
        arguments: ["none", "process"])
    func onThread(isolation: String) throws {
        try withFixture(isolation) { _, _, client in
            let stream = try client.result("bridge.stream.new")["stream"] ?? .null
            try client.send(["task": "fixture.turn.thread", "options": ["photo": stream], "callbackId": "cancelled"])
            _ = try client.result("bridge.stream.write", ["stream": stream, "base64": "AAAA"])
            // As in `cancelled`: the task holds the end, and its next read waits.
            while try client.result("bridge.status")["streamBytes"] != 0 {}
            try client.send(["cancel": "cancelled"])
            let cancelled = try client.receive { $0["callbackId"] == "cancelled" }
            #expect(cancelled["error"]?["code"] == "call.cancelled")
            var answer: JSON = [:]
            while answer["error"] == nil {
                answer = try client.call("bridge.stream.write", ["stream": stream, "base64": "AAAA"])
            }
            let bytes = (0..<300_001).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) }
            let end = try turn(bytes, by: "fixture.turn.thread", client)
            #expect(end == ["end": true, "bytes": 300_001])
            let status = try client.result("bridge.status")
            #expect(status["streams"] == 0)
        }
    }

    @Test("A task may read the stream of its caller after its answer", arguments: ["none", "process"])
    func readLater(isolation: String) throws {
        try withFixture(isolation) { _, _, client in
            _ = try client.result("bridge.subscribe", ["events": ["fixture.read"]])
            let stream = try client.result("bridge.stream.new")["stream"] ?? .null
            _ = try client.result("fixture.read.later", ["photo": stream])
            let written = try client.write(Array(repeating: 7, count: 100_000), to: stream)
            #expect(written["result"]?["complete"] == true)
            let event = try client.receive { $0["event"] == "fixture.read" }
            #expect(event["data"] == 100_000)
        }
    }

    @Test("The schemas of a task declare which values are streams")
    func described() throws {
        try withFixture("none") { _, _, client in
            let description = try client.result("bridge.describe", ["task": "fixture.turn"])
            let stream: JSON = ["type": "string", "format": "trestle-stream"]
            #expect(description["options"]?["properties"]?["photo"] == stream)
            #expect(description["result"]?["properties"]?["photo"] == stream)
        }
    }

    @Test("A value that is not the name of a stream is refused with its path", arguments: ["none", "process"])
    func noName(isolation: String) throws {
        try withFixture(isolation) { _, _, client in
            let answer = try client.call("fixture.turn", ["photo": "photo.png"])
            #expect(answer["error"]?["code"] == "options.invalid")
            let message = answer["error"]?["message"]?.stringValue ?? ""
            #expect(message.contains("$.photo") && message.contains("the name of a stream"))
        }
    }

    @Test("A writer that throws breaks the stream with its error", arguments: ["none", "process"])
    func thrown(isolation: String) throws {
        try withFixture(isolation) { _, _, client in
            let error = try turn(Array("fail".utf8), client)
            #expect(error["code"] == "stream.closed" && error["data"]?["error"]?["code"] == "fixture.paper")
        }
    }

    @Test("A task that stops iterating over a stream closes it for its writer", arguments: ["none", "process"])
    func dropped(isolation: String) throws {
        try withFixture(isolation) { _, _, client in
            let stream = try client.result("bridge.stream.new")["stream"] ?? .null
            try client.send(["task": "fixture.drop", "options": ["photo": stream], "callbackId": "drop"])
            _ = try client.result("bridge.stream.write", ["stream": stream, "base64": "AAAA"])
            let dropped = try client.receive { $0["callbackId"] == "drop" }
            #expect(dropped["result"] == 3)
            var answer: JSON = [:]
            while answer["error"] == nil {
                answer = try client.call("bridge.stream.write", ["stream": stream, "base64": "AAAA"])
            }
            #expect(answer["error"]?["data"] == ["by": "reader", "bytes": 3])
        }
    }

    @Test("A call that is cancelled while it reads closes the stream for its writer", arguments: ["none", "process"])
    func cancelled(isolation: String) throws {
        try withFixture(isolation) { _, _, client in
            let stream = try client.result("bridge.stream.new")["stream"] ?? .null
            try client.send(["task": "fixture.turn", "options": ["photo": stream], "callbackId": "turn"])
            _ = try client.result("bridge.stream.write", ["stream": stream, "base64": "AAAA"])
            // The task holds the end since its first read, which has completed; the next read waits.
            while try client.result("bridge.status")["streamBytes"] != 0 {}
            try client.send(["cancel": "turn"])
            _ = try client.receive { $0["callbackId"] == "turn" }
            var answer: JSON = [:]
            while answer["error"] == nil {
                answer = try client.call("bridge.stream.write", ["stream": stream, "base64": "AAAA"])
            }
            #expect(answer["error"]?["code"] == "stream.closed")
            let status = try client.result("bridge.status")
            #expect(status["streams"] == 0)
        }
    }

    @Test("A plugin that reads without end leaves turns for other calls", arguments: ["none", "process"])
    func endless(isolation: String) throws {
        try withFixture(isolation) { _, daemon, client in
            let writer = try SpawnedProcess(
                Paths.program("trestle"),
                ["--socket", daemon.home.socketPath, "call", "fixture.read.later", "photo=@/dev/zero"])
            while try client.result("bridge.status")["streams"] != 1 {}
            for _ in 0..<50 { _ = try client.result("fixture.caller") }
            #expect(try client.result("bridge.status")["streams"] == 1)
            kill(writer.pid, SIGKILL)
            _ = try writer.wait()
            try client.result("bridge.status") { $0["streams"] == 0 }
        }
    }

    @Test("Streams beyond the maximum number of pipes use messages", arguments: ["none", "process"])
    func manyPipes(isolation: String) throws {
        try withFixture(isolation) { _, daemon, client in
            let holder = try daemon.connect()
            for number in 0..<64 {
                let stream = try holder.result("bridge.stream.new")["stream"] ?? .null
                try holder.send(
                    [
                        "task": "fixture.read.later", "options": ["photo": stream],
                        "callbackId": .number(JSONNumber(number)),
                    ])
            }
            for number in 0..<64 { _ = try holder.receive { $0["callbackId"] == .number(JSONNumber(number)) } }
            let bytes = (0..<300_001).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) }
            #expect(try turn(bytes, client) == ["end": true, "bytes": 300_001])
            holder.close()
            try client.result("bridge.status") { $0["streams"] == 0 }
            #expect(try turn(bytes, client) == ["end": true, "bytes": 300_001])
        }
    }

    @Test(
        "A cancelled call leaves no pipe end open, even if the client keeps its own",
        arguments: ["none", "process"])
    func keptPipe(isolation: String) throws {
        try withFixture(isolation) { _, daemon, client in
            // The first round may open descriptors that stay open.
            var before: Int?
            for _ in 0..<4 {
                let stream = try client.result("bridge.stream.new")["stream"] ?? .null
                let end = try client.attach(stream, "write")
                defer { close(end) }
                // The plugin holds its end and waits for bytes.
                _ = try client.result("fixture.read.later", ["photo": stream])
                _ = try client.result(
                    "bridge.stream.close", ["stream": stream, "error": ["code": "a.b", "message": "c"]])
                try client.result("bridge.status") { $0["streams"] == 0 }
                // The plugin closes its end in a later turn.
                if let before { try daemon.awaitDescriptors(before, client) }
                before = try before ?? daemon.descriptorCount()
            }
        }
    }
}
