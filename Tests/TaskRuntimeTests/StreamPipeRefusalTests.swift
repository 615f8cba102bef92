import BridgeJSON
import Testing

@testable import TaskRuntime

@Suite("Refusal of pipes for streams")
final class StreamPipeRefusalTests: StreamPipeBench {
    @Test("A caller that cannot receive a descriptor uses messages: without a socket, in a batch, or a plugin")
    func noDescriptor() {
        let stream = make()
        writer.client.transport.unread = nil
        #expect(attach(writer, stream, "write").errorCode == "stream.invalid")
        writer.client.transport.unread = 0
        writer.client.send(
            #"[{"jsonrpc":"2.0","method":"bridge.stream.attach","params":{"stream":\#(stream.text)},"id":1}]"#)
        #expect(writer.client.readOne()?[0]?["error"]?["data"]?["code"] == "stream.invalid")
        let own = StreamPlugin(bench, bench.instance)
        let made = own.call("new", [:])["stream"] ?? .null
        #expect(own.call("attach", ["stream": made]).errorCode == "stream.invalid")
        #expect(writer.call("write", ["stream": stream, "base64": hello]) == ["room": 262_139])
    }

    @Test("A stream is made without the requested pipe if its maker cannot attach")
    func madeWithout() {
        let wish: JSON = ["attach": true]
        writer.client.transport.unread = nil
        #expect(writer.call("new", wish)["attached"] == nil)
        writer.client.transport.unread = 0
        writer.client.send(
            #"[{"jsonrpc":"2.0","method":"bridge.stream.new","params":{"attach":true},"id":1}]"#)
        let batch = writer.client.readOne()?[0]?["result"]
        #expect(batch?["stream"] != nil && batch?["attached"] == nil)
        let own = StreamPlugin(bench, bench.instance).call("new", wish)
        #expect(own["stream"] != nil && own["attached"] == nil)
        pipes.refusal = BridgeError(.busy, "no descriptor is left")
        let made = writer.call("new", wish)
        #expect(made["stream"] != nil && made["attached"] == nil)
        #expect(writer.call("write", ["stream": made["stream"] ?? .null, "base64": hello]) == ["room": 262_139])
        #expect(pipes.made.isEmpty)
    }

    @Test("A stream is made without the pipe if a rule denies bridge.stream.attach to its maker")
    func denied() {
        let all = PolicyRule(.allow, [.call], file: "10-all.toml", line: 1)
        var denial = PolicyRule(.deny, [.call], file: "50-test.toml", line: 7)
        denial.names = ["bridge.stream.attach"].compactMap { PolicyName($0) }
        bench.runtime.apply(Policy(daemonUID: Bench.daemonUID, rules: [all, denial]))
        let made = writer.call("new", ["attach": true])
        #expect(made["stream"] != nil && made["attached"] == nil && pipes.made.isEmpty)
        #expect(attach(writer, made["stream"] ?? .null, "write").errorCode == "permission.denied")
    }

    @Test("A side for which no pipe can be created uses messages, and the other side can still attach")
    func noneLeft() {
        let stream = make()
        pipes.refusal = BridgeError(.busy, "no descriptor is left")
        #expect(attach(writer, stream, "write").errorCode == "busy")
        #expect(writer.call("write", ["stream": stream, "base64": hello]) == ["room": 262_139])
        #expect(attach(reader, stream, "read").errorCode == "busy")
        pipes.refusal = nil
        #expect(attach(reader, stream, "read") == [:])
        #expect(pipes.made.count == 1 && pipes.made[0].received == helloBytes)
        let close = writer.begin("close", ["stream": stream, "bytes": 5])
        #expect(reader.call("read", ["stream": stream]) == ["end": true, "bytes": 5])
        #expect(reader.call("close", ["stream": stream, "bytes": 5]) == ["bytes": 5, "complete": true])
        #expect(writer.answers() == [close: ["bytes": 5, "complete": true]])
        #expect(bench.runtime.streams.count == 0)
    }

    @Test("A stream of another user is not found")
    func foreign() {
        let stream = make()
        let other = StreamClient(bench, uid: Bench.daemonUID)
        #expect(attach(other, stream, "read").errorCode == "stream.not_found")
        #expect(attach(reader, stream, "read") == [:])
    }

    @Test("A user has at most 64 streams with a pipe end in the daemon; streams of two pipe ends do not count")
    func keptPipes() {
        for _ in 0..<64 { #expect(attach(writer, make(), "write") == [:]) }
        let more = StreamClient(bench)
        let stream = JSON.string(more.make())
        #expect(attach(more, stream, "write").errorCode == "busy")
        bench.runtime.hangUp(writer.client.session)
        bench.clock.advance(.seconds(60))
        for _ in 0..<100 {
            let stream = JSON.string(more.make())
            #expect(attach(more, stream, "write") == [:] && attach(reader, stream, "read") == [:])
            _ = reader.call("close", ["stream": stream])
            _ = more.call("close", ["stream": stream, "bytes": 0])
        }
    }

    @Test("A session has at most 16 descriptors that it has not received, and a user has at most 64")
    func unread() {
        writer.client.transport.unread = 16
        let stream = make()
        #expect(attach(writer, stream, "write").errorCode == "busy")
        writer.client.transport.unread = 15
        #expect(attach(writer, stream, "write") == [:])
        for _ in 0..<4 {
            let client = StreamClient(bench)
            #expect(attach(client, .string(client.make()), "write") == [:])
            client.client.transport.unread = 15
        }
        writer.client.transport.unread = 4
        #expect(attach(writer, make(), "write").errorCode == "busy")
        writer.client.transport.unread = 3
        #expect(attach(writer, make(), "write") == [:])
    }
}
