import BridgeJSON
import EventLoop
import TaskRuntime
import Testing

@testable import BridgeClient

/// Streams that are created together with their pipes, against the daemon's server and runtime.
@Suite("Streams that are created with their pipes", .timeLimit(.minutes(5))) @LoopActor struct MadePipeTests {
    @Test("A stream is created with a pipe unless it is known to be short")
    func made() async throws {
        try await withClients { writer, reader in
            for (totalBytes, code) in [(nil, "stream.invalid"), (65_536, "stream.invalid"), (65_535, nil)] {
                let stream = try await writer.makeStream(totalBytes: totalBytes)
                let options: JSON = ["stream": .string(stream.name), "side": "write"]
                let refusal = await error { () async throws(BridgeError) in
                    _ = try await writer.callJSON("bridge.stream.attach", options)
                }
                #expect(refusal?.code.rawValue == code)
                let close = await error { () async throws(BridgeError) in
                    _ = try await reader.callJSON("bridge.stream.close", ["stream": .string(stream.name)])
                }
                #expect(close == nil)
            }
        }
    }

    @Test("Descriptors of a program's own calls are used for no other stream")
    func ownCalls() async throws {
        try await withClients { writer, reader in
            let own = try await writer.callJSON("bridge.stream.new", ["attach": true])
            #expect(own["attached"] == true)
            let attached = try await writer.callJSON("bridge.stream.new")
            let options: JSON = ["stream": attached["stream"] ?? .null, "side": "write"]
            #expect(try await writer.callJSON("bridge.stream.attach", options) == [:])
            let stream = try await writer.makeStream()
            async let writing: Void = stream.write { out in try await out.write([1, 2, 3]) }
            #expect(try await reader.readStream(stream.name).collect(upTo: 10) == [1, 2, 3])
            try await writing
            for made in [own, attached] {
                let closing: JSON = ["stream": made["stream"] ?? .null, "side": "read"]
                _ = try await reader.callJSON("bridge.stream.close", closing)
                // The writer has closed its pipe but not its end of the stream.
                _ = try? await writer.callJSON("bridge.stream.close", ["stream": made["stream"] ?? .null])
            }
        }
    }

    @Test("The descriptor of a stream whose creation was cancelled is used for no other stream")
    func cancelled() async throws {
        try await withDaemon(limits: RuntimeLimits()) { daemon in
            let client = try await Bridge.connectOnce(to: daemon.path)
            let making = Task { try await client.makeStream() }
            // The call has been sent but not answered: both happen on this loop.
            await Task.yield()
            making.cancel()
            let stream = try await client.makeStream()
            async let writing: Void = stream.write { out in try await out.write([1, 2, 3]) }
            #expect(try await client.readStream(stream.name).collect(upTo: 10) == [1, 2, 3])
            try await writing
            await client.close()
        }
    }

    @Test("Nothing is kept for a cancelled request for a pipe after its answer, whatever the answer is")
    func forgotten() async throws {
        try await withFakeDaemon { client, connection, _ in
            for number in 0..<3 {
                let making = Task { @LoopActor in try await client.makeStream() }
                let request = await connection.next()
                making.cancel()
                await #expect(throws: BridgeError.self) { _ = try await making.value }
                _ = await connection.next()
                if number == 0 {
                    connection.answer(request, [:])
                } else {
                    connection.fail(request, ["code": "call.cancelled", "message": "cancelled"])
                }
            }
            async let answered = client.callJSON("bridge.ping")
            connection.answer(await connection.next(), [:])
            _ = try await answered
            #expect(client.session.calls.abandonedCount == 0)
        }
    }

    @Test("A stream that ends or fails before its first byte ends for its reader")
    func untouched() async throws {
        try await withClients { writer, reader in
            let empty = try await writer.makeStream()
            async let writing: Void = empty.write { _ in }
            #expect(try await reader.readStream(empty.name).collect(upTo: 1) == [])
            try await writing
            let failed = try await writer.makeStream()
            await #expect(throws: BridgeError.self) {
                try await failed.write { _ in throw BridgeError(.internal, "no paper") }
            }
            let failure = await error { () async throws(BridgeError) in
                _ = try await reader.readStream(failed.name).collect(upTo: 1)
            }
            #expect(failure?.code == .streamClosed && failure?.data?["by"] == "writer")
        }
    }

    @Test("A pipe that the system could not pass ends the stream with a reason")
    func notPassed() async throws {
        try await withFakeDaemon { client, connection, _ in
            let made = Task { try await client.makeStream() }
            connection.answer(await connection.next(), ["stream": "stream:1", "room": 9, "attached": true])
            let failure = await #expect(throws: BridgeError.self) { try await made.value }
            #expect(failure?.code == .streamClosed)
            let close = await connection.next()
            #expect(close["task"] == "bridge.stream.close")
            #expect(close["options"]?["error"]?["code"] == "stream.closed")
        }
    }

    @Test("A daemon that creates streams without pipes is asked for the pipe afterwards")
    func older() async throws {
        try await withFakeDaemon { client, connection, _ in
            async let made = client.makeStream()
            let new = await connection.next()
            #expect(new["options"] == ["side": "write", "attach": true])
            connection.answer(new, ["stream": "stream:1", "room": 9])
            let stream = try await made
            async let writing: Void = stream.write { out in try await out.write([1]) }
            let attach = await connection.next()
            #expect(attach["task"] == "bridge.stream.attach")
            connection.fail(attach, ["code": "stream.invalid", "message": "no descriptors here"])
            let write = await connection.next()
            #expect(write["task"] == "bridge.stream.write")
            connection.answer(write, ["room": 9])
            connection.answer(await connection.next(), ["bytes": 1, "complete": true])
            try await writing
        }
    }
}
