import BridgeJSON
import Testing

@testable import TaskRuntime

@Suite("Ends of streams that are pipes")
final class StreamPipeTests: StreamPipeBench {
    @Test("If both sides attach, they get the two ends of one pipe, and the daemon keeps none")
    func direct() {
        let stream = make(["type": "text/plain", "bytes": 5])
        #expect(attach(writer, stream, "write") == [:])
        #expect(attach(reader, stream, "read") == ["type": "text/plain", "totalBytes": 5])
        #expect(pipes.made.count == 1 && pipes.made[0].given == [.writer, .reader])
        let end = reader.begin("read", ["stream": stream])
        let close = writer.begin("close", ["stream": stream, "bytes": 5])
        #expect(reader.answers() == [end: ["end": true, "bytes": 5]])
        #expect(writer.answers() == [:])
        #expect(reader.call("close", ["stream": stream, "bytes": 5]) == ["bytes": 5, "complete": true])
        #expect(writer.answers() == [close: ["bytes": 5, "complete": true]])
        #expect(bench.runtime.streams.count == 0 && pipes.made[0].isClosed)
    }

    @Test("The maker of a stream can request a pipe with it, and cannot attach again")
    func madeWithPipe() {
        for (side, other) in [("write", "read"), ("read", "write")] {
            let made = writer.call("new", ["side": .string(side), "attach": true])
            let stream = made["stream"] ?? .null
            #expect(made == ["stream": stream, "room": 262_144, "attached": true])
            #expect(attach(writer, stream, .string(side)).errorCode == "stream.invalid")
            #expect(attach(reader, stream, .string(other)) == [:])
            #expect(pipes.made.last?.given == (side == "write" ? [.writer, .reader] : [.reader, .writer]))
            _ = writer.call("close", ["stream": stream, "error": ["code": "a.b", "message": "enough"]])
            _ = reader.call("close", ["stream": stream, "error": ["code": "a.b", "message": "enough"]])
        }
        #expect(writer.call("new", ["attach": false])["attached"] == nil)
        #expect(pipes.made.count == 2)
    }

    @Test("A reader can attach after its writer has closed or disconnected, and gets the bytes in the pipe")
    func lateReader() {
        let stream = make()
        _ = attach(writer, stream, "write")
        let close = writer.begin("close", ["stream": stream, "bytes": 5])
        #expect(attach(reader, stream, "read") == [:])
        #expect(reader.call("read", ["stream": stream]) == ["end": true, "bytes": 5])
        _ = reader.call("close", ["stream": stream, "bytes": 5])
        #expect(writer.answers() == [close: ["bytes": 5, "complete": true]])
        let broken = make()
        _ = attach(writer, broken, "write")
        bench.runtime.hangUp(writer.client.session)
        #expect(attach(reader, broken, "read") == [:] && pipes.made[1].given == [.writer, .reader])
        #expect(reader.call("read", ["stream": broken]).errorCode == "stream.closed")
        #expect(bench.runtime.streams.count == 0)
    }

    @Test("A reader can attach after its writer has failed, and gets the bytes before the error")
    func lateReaderOfMessages() {
        let stream = make()
        _ = writer.call("write", ["stream": stream, "base64": hello])
        _ = writer.call("close", ["stream": stream, "error": ["code": "photos.torn", "message": "it is torn"]])
        #expect(attach(reader, stream, "read") == [:])
        #expect(pipes.made[0].received == helloBytes)
        #expect(reader.call("read", ["stream": stream]).errorCode == "stream.closed")
        #expect(bench.runtime.streams.count == 0)
    }

    @Test("Bytes of a writer's pipe go into a reader's messages, at most as many as the window holds")
    func writersPipe() {
        let stream = make()
        #expect(attach(writer, stream, "write") == [:])
        // The reader can still attach, so the daemon does not read the pipe yet.
        #expect(pipes.made[0].wantedBytes == 0)
        let read = reader.begin("read", ["stream": stream])
        #expect(pipes.made[0].wantedBytes == 262_144)
        pipes.made[0].events.bytes(helloBytes)
        #expect(reader.answers() == [read: ["base64": hello]])
        pipes.made[0].events.bytes(Array(repeating: 1, count: 262_144))
        #expect(pipes.made[0].wantedBytes == 0)
        _ = reader.call("read", ["stream": stream, "bytes": 144])
        #expect(pipes.made[0].wantedBytes == 144)
    }

    @Test("A writer's pipe is complete at the writer's count of bytes, even if the pipe has not ended")
    func counted() {
        let stream = make()
        _ = attach(writer, stream, "write")
        let read = reader.begin("read", ["stream": stream])
        let close = writer.begin("close", ["stream": stream, "bytes": 5])
        #expect(writer.answers() == [:])
        pipes.made[0].events.bytes(helloBytes)
        #expect(reader.answers() == [read: ["base64": hello]])
        #expect(reader.call("read", ["stream": stream]) == ["end": true, "bytes": 5])
        #expect(writer.answers() == [close: ["bytes": 5, "complete": true]])
        #expect(bench.runtime.streams.count == 0)
    }

    @Test(
        "A pipe with fewer or more bytes than its writer counts breaks the stream",
        arguments: [4, 6])
    func miscounted(count: Int) {
        let stream = make()
        _ = attach(writer, stream, "write")
        let read = reader.begin("read", ["stream": stream])
        pipes.made[0].events.bytes(helloBytes)
        #expect(reader.answers() == [read: ["base64": hello]])
        let close = writer.begin("close", ["stream": stream, "bytes": .number(JSONNumber(count))])
        pipes.made[0].events.bytes([])
        #expect(writer.answers()[close]?["complete"] == false)
        #expect(reader.call("read", ["stream": stream]).errorCode == "stream.closed")
        #expect(bench.runtime.streams.count == 0 && pipes.made[0].isClosed)
    }

    @Test("The end of a writer's pipe is not the end of the stream")
    func pipeEnd() {
        let stream = make()
        _ = attach(writer, stream, "write")
        let read = reader.begin("read", ["stream": stream])
        pipes.made[0].events.bytes([])
        #expect(reader.answers() == [:] && pipes.made[0].wantedBytes == 0)
        #expect(writer.call("close", ["stream": stream, "bytes": 0]) == ["bytes": 0, "complete": true])
        #expect(reader.answers() == [read: ["end": true, "bytes": 0]])
    }

    @Test("Bytes that a writer sends in messages go into the reader's pipe as far as it has room")
    func readersPipe() {
        let stream = make()
        #expect(attach(reader, stream, "read") == [:])
        pipes.made[0].roomBytes = 3
        #expect(writer.call("write", ["stream": stream, "base64": hello]) == ["room": 262_139])
        #expect(pipes.made[0].received == Array("hel".utf8))
        let end = reader.begin("read", ["stream": stream])
        let close = writer.begin("close", ["stream": stream, "bytes": 5])
        #expect(reader.answers() == [:])
        pipes.made[0].roomBytes = 9
        pipes.made[0].events.room()
        #expect(pipes.made[0].received == helloBytes && pipes.made[0].isClosed)
        #expect(reader.answers() == [end: ["end": true, "bytes": 5]])
        #expect(writer.answers() == [:])
        #expect(reader.call("close", ["stream": stream, "bytes": 5]) == ["bytes": 5, "complete": true])
        #expect(writer.answers() == [close: ["bytes": 5, "complete": true]])
    }

    @Test("If a reader's count differs from its writer's, the stream is not complete")
    func readerMiscounts() {
        let stream = make()
        _ = attach(reader, stream, "read")
        let close = writer.begin("write", ["stream": stream, "base64": hello, "end": true])
        #expect(reader.call("read", ["stream": stream]) == ["end": true, "bytes": 5])
        #expect(reader.call("close", ["stream": stream, "bytes": 4])["complete"] == false)
        let receipt = writer.answers()[close]
        #expect(receipt?["complete"] == false && receipt?["by"] == "reader")
    }

    @Test("If a reader disconnects before it confirms the end, the stream is not complete")
    func readerGone() {
        let stream = make()
        _ = attach(writer, stream, "write")
        _ = attach(reader, stream, "read")
        let close = writer.begin("close", ["stream": stream, "bytes": 5])
        #expect(reader.call("read", ["stream": stream]) == ["end": true, "bytes": 5])
        bench.runtime.hangUp(reader.client.session)
        #expect(writer.answers()[close]?["complete"] == false)
        #expect(bench.runtime.streams.count == 0)
    }

    @Test("If a reader closes without a count after the end, the stream is not complete")
    func uncountedReader() {
        let stream = make()
        _ = attach(reader, stream, "read")
        let close = writer.begin("write", ["stream": stream, "base64": hello, "end": true])
        #expect(reader.call("read", ["stream": stream]) == ["end": true, "bytes": 5])
        #expect(reader.call("close", ["stream": stream])["complete"] == false)
        #expect(writer.answers()[close]?["complete"] == false)
    }

    @Test("A client with both ends names the side that it closes")
    func bothEnds() {
        let stream = make()
        #expect(attach(writer, stream, "write") == [:] && attach(writer, stream, "read") == [:])
        let end = writer.begin("read", ["stream": stream])
        let close = writer.begin("close", ["stream": stream, "side": "write", "bytes": 5])
        let read = writer.begin("close", ["stream": stream, "side": "read", "bytes": 5])
        let complete: JSON = ["bytes": 5, "complete": true]
        #expect(writer.answers() == [end: ["end": true, "bytes": 5], close: complete, read: complete])
        #expect(bench.runtime.streams.count == 0)
    }

    @Test("A write of no bytes to a pipe is answered when the reader has closed its end")
    func waitsForReader() {
        let stream = make()
        _ = attach(writer, stream, "write")
        _ = attach(reader, stream, "read")
        let waiting = writer.begin("write", ["stream": stream, "base64": ""])
        #expect(writer.answers() == [:])
        _ = reader.call("close", ["stream": stream])
        #expect(writer.answers()[waiting]?.errorCode == "stream.closed")
    }

    @Test("A reader whose pipe is closed breaks the stream")
    func brokenPipe() {
        let stream = make()
        _ = attach(reader, stream, "read")
        pipes.made[0].events.broken()
        #expect(writer.call("write", ["stream": stream, "base64": hello]).errorCode == "stream.closed")
        #expect(bench.runtime.streams.count == 0)
    }

    @Test("An end can attach only before its first read or write; otherwise the stream continues in messages")
    func late() {
        let stream = make()
        _ = writer.call("write", ["stream": stream, "base64": hello])
        #expect(attach(writer, stream, "write").errorCode == "stream.invalid")
        #expect(reader.call("read", ["stream": stream]) == ["base64": hello])
        #expect(attach(reader, stream, "read").errorCode == "stream.invalid")
        let end = writer.begin("close", ["stream": stream, "bytes": 5])
        #expect(reader.call("read", ["stream": stream]) == ["end": true, "bytes": 5])
        #expect(writer.answers()[end]?["complete"] == true)
        #expect(pipes.made.isEmpty)
    }

    @Test(
        "A writer's pipe refuses bytes in messages, a second attach, and a close without a count; it stays usable")
    func misuse() {
        let stream = make()
        _ = attach(writer, stream, "write")
        #expect(attach(writer, stream, "write").errorCode == "stream.invalid")
        #expect(writer.call("write", ["stream": stream, "base64": hello]).errorCode == "stream.invalid")
        #expect(writer.call("close", ["stream": stream]).errorCode == "stream.invalid")
        _ = attach(reader, stream, "read")
        let close = writer.begin("close", ["stream": stream, "bytes": 0])
        #expect(writer.call("close", ["stream": stream, "bytes": 0]).errorCode == "stream.invalid")
        #expect(reader.call("read", ["stream": stream]) == ["end": true, "bytes": 0])
        _ = reader.call("close", ["stream": stream, "bytes": 0])
        #expect(writer.answers()[close]?["complete"] == true)
    }
}
