import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

@Suite("Streams between clients")
struct StreamTaskTests {
    private let bench = Bench()

    /// The bytes of a whole window, and of about half a window, in Base64.
    private static let wholeWindow = String(repeating: "A", count: 262_143 / 3 * 4) + "AA=="
    private static let halfWindow = String(repeating: "A", count: 131_070 / 3 * 4)
    /// The text "hello" in Base64.
    private let hello: JSON = "aGVsbG8="

    @Test("Bytes go from one client to another of the same user, and both get the confirmation of completeness")
    func complete() {
        let (writer, reader) = (StreamClient(bench), StreamClient(bench))
        let made = writer.call("new", ["type": "text/plain", "bytes": 5])
        #expect(made["room"] == 262_144)
        let stream = made["stream"] ?? .null
        #expect(writer.call("write", ["stream": stream, "base64": hello]) == ["room": 262_139])
        let end = writer.begin("close", ["stream": stream, "bytes": 5])
        #expect(
            reader.call("read", ["stream": stream])
                == ["base64": hello, "type": "text/plain", "totalBytes": 5])
        #expect(writer.answers() == [:])
        #expect(reader.call("read", ["stream": stream]) == ["end": true, "bytes": 5])
        #expect(writer.answers() == [end: ["bytes": 5, "complete": true]])
        #expect(bench.runtime.streams.count == 0)
        #expect(reader.call("read", ["stream": stream]).errorCode == "stream.not_found")
    }

    @Test("A read waits for bytes, and a write with `end` waits for the reader")
    func waiting() {
        let (writer, reader) = (StreamClient(bench), StreamClient(bench))
        let stream = JSON.string(writer.make())
        let first = reader.begin("read", ["stream": stream, "bytes": 3])
        #expect(reader.call("read", ["stream": stream]).errorCode == "busy")
        let last = writer.begin("write", ["stream": stream, "base64": hello, "end": true])
        #expect(reader.answers() == [first: ["base64": "aGVs"]])
        #expect(reader.call("read", ["stream": stream]) == ["base64": "bG8="])
        #expect(reader.call("read", ["stream": stream]) == ["end": true, "bytes": 5])
        #expect(writer.answers() == [last: ["bytes": 5, "complete": true]])
    }

    @Test("A reader can make the stream")
    func madeByReader() {
        let (reader, writer) = (StreamClient(bench), StreamClient(bench))
        let stream = JSON.string(reader.make(["side": "read"]))
        let read = reader.begin("read", ["stream": stream])
        #expect(writer.call("write", ["stream": stream, "base64": hello]) == ["room": 262_144])
        #expect(reader.answers() == [read: ["base64": hello]])
    }

    @Test("If a reader closes a stream, the writer's next call gets the reason")
    func readerCloses() {
        let (writer, reader) = (StreamClient(bench), StreamClient(bench))
        let stream = JSON.string(writer.make())
        _ = writer.call("write", ["stream": stream, "base64": hello])
        _ = reader.call("read", ["stream": stream, "bytes": 2])
        let reason: JSON = ["code": "photos.full", "message": "the album is full"]
        #expect(
            reader.call("close", ["stream": stream, "error": reason])
                == ["bytes": 2, "complete": false, "by": "reader", "error": reason])
        let error = writer.call("write", ["stream": stream, "base64": hello])["error"]
        #expect(error?["code"] == "stream.closed")
        #expect(error?["data"] == ["by": "reader", "bytes": 2, "error": reason])
        #expect(bench.runtime.streams.count == 0)
    }

    @Test("If a writer disconnects, the reader gets the written bytes, then the error")
    func gone() {
        let (writer, reader) = (StreamClient(bench), StreamClient(bench))
        let stream = JSON.string(writer.make())
        _ = writer.call("write", ["stream": stream, "base64": hello])
        bench.runtime.hangUp(writer.client.session)
        #expect(reader.call("read", ["stream": stream]) == ["base64": hello])
        let error = reader.call("read", ["stream": stream])["error"]
        #expect(error?["code"] == "stream.closed")
        #expect(error?["data"] == ["by": "writer", "bytes": 5])
        #expect(bench.runtime.streams.count == 0)
    }

    @Test("Waiting reads and writes end when the other side disconnects")
    func waitingAndGone() {
        let (writer, reader) = (StreamClient(bench), StreamClient(bench))
        let (full, empty) = (JSON.string(writer.make()), JSON.string(writer.make()))
        let write = writer.begin("write", ["stream": full, "base64": .string(Self.wholeWindow)])
        #expect(writer.answers() == [:])
        let read = reader.begin("read", ["stream": empty])
        _ = reader.begin("read", ["stream": full, "bytes": 131_072])
        #expect(writer.answers() == [write: ["room": 131_072]])
        let waiting = writer.begin("write", ["stream": full, "base64": "AA=="])
        #expect(writer.answers() == [:])
        bench.runtime.hangUp(reader.client.session)
        #expect(writer.answers()[waiting]?["error"]?["code"] == "stream.closed")
        #expect(writer.call("write", ["stream": empty, "base64": "AA=="]).errorCode == "stream.closed")
        // The same with a waiting reader.
        let (second, late) = (StreamClient(bench), StreamClient(bench))
        let stream = JSON.string(second.make())
        let waitingRead = late.begin("read", ["stream": stream])
        bench.runtime.hangUp(second.client.session)
        #expect(late.answers()[waitingRead]?["error"]?["data"] == ["by": "writer", "bytes": 0])
        #expect(read > 0 && bench.runtime.streams.count == 0)
    }

    @Test("Invalid Base64 breaks the stream, so that later bytes do not take the place of the invalid ones")
    func noBase64() {
        let (writer, reader) = (StreamClient(bench), StreamClient(bench))
        for bad: JSON in ["aGVsbG8", "aGVs*G8=", 5, .null, "aGVsbG9="] {
            let stream = JSON.string(writer.make())
            _ = reader.begin("read", ["stream": stream])
            #expect(writer.call("write", ["stream": stream, "base64": bad]).errorCode == "stream.invalid")
            #expect(reader.answers().values.first?["error"]?["data"]?["by"] == "writer")
        }
        let stream = JSON.string(writer.make())
        let read = reader.begin("read", ["stream": stream])
        writer.client.send(
            #"{"task":"bridge.stream.write","options":{"stream":\#(stream.text),"base64":"\/\/8="},"callbackId":"w"}"#)
        #expect(reader.answers() == [read: ["base64": "//8="]])
    }

    @Test("A write above the room is refused, and ends the stream")
    func exceeded() {
        let (writer, reader) = (StreamClient(bench), StreamClient(bench))
        let stream = JSON.string(writer.make())
        let much = String(repeating: "A", count: 262_144 / 3 * 4 + 4)
        let error = writer.call("write", ["stream": stream, "base64": .string(much)])["error"]
        #expect(error?["code"] == "quota.exceeded")
        #expect(error?["data"] == ["room": 262_144])
        #expect(reader.call("read", ["stream": stream])["error"]?["data"]?["error"]?["code"] == "quota.exceeded")
    }

    @Test("A close with a wrong count breaks the stream")
    func miscounted() {
        let (writer, reader) = (StreamClient(bench), StreamClient(bench))
        let stream = JSON.string(writer.make())
        _ = writer.call("write", ["stream": stream, "base64": hello])
        #expect(writer.call("close", ["stream": stream, "bytes": 6]).errorCode == "stream.invalid")
        #expect(reader.call("read", ["stream": stream]) == ["base64": hello])
        #expect(reader.call("read", ["stream": stream]).errorCode == "stream.closed")
    }

    @Test("A write whose call times out stays written")
    func cancelled() {
        let (writer, reader) = (StreamClient(bench), StreamClient(bench))
        let stream = JSON.string(writer.make())
        let filling = writer.begin("write", ["stream": stream, "base64": .string(Self.wholeWindow)])
        #expect(writer.answers() == [:])
        writer.client.send(
            #"{"task":"bridge.stream.write","options":{"stream":\#(stream.text),"base64":"AA=="},"#
                + #""callbackId":"late","timeout":50}"#)
        // The second write exceeded the room.
        #expect(writer.answers()[filling]?["error"]?["code"] == "quota.exceeded")
        let other = JSON.string(writer.make())
        let early = writer.begin("write", ["stream": other, "base64": .string(Self.halfWindow)])
        #expect(writer.answers() == [early: ["room": 131_074]])
        writer.client.send(
            #"{"task":"bridge.stream.write","options":{"stream":\#(other.text),"base64":"AAAA"},"#
                + #""callbackId":"late","timeout":50}"#)
        bench.clock.advance(.milliseconds(50))
        #expect(writer.client.readOne()?.errorCode == "call.timeout")
        var bytes = 0
        while bytes < 131_073, let text = reader.call("read", ["stream": other])["base64"]?.stringValue {
            bytes += Base64Coding.decode(text).count
        }
        #expect(bytes == 131_073)
        #expect(bench.runtime.calls.count == 0)
    }

    @Test("A reader with unread output gets no more bytes until it has read")
    func slowReader() {
        let (writer, reader) = (StreamClient(bench), StreamClient(bench))
        let streams = (0..<4).map { _ in JSON.string(writer.make()) }
        let chunk = JSON.string(String(repeating: "A", count: 65_536 / 3 * 4))
        for stream in streams { _ = writer.call("write", ["stream": stream, "base64": chunk]) }
        for stream in streams { reader.begin("read", ["stream": stream]) }
        #expect(reader.client.session.output.count < 2 * 96 * 1_024)
        #expect(reader.answers().count == 2)
        #expect(reader.answers().count == 2)
        #expect(bench.runtime.calls.count == 0)
    }

    @Test("Calls that wait for streams do not count as a session's calls in flight")
    func aside() {
        var limits = RuntimeLimits()
        limits.callsInFlight = 2
        let bench = Bench(limits: limits)
        let (writer, reader) = (StreamClient(bench), StreamClient(bench))
        for _ in 0..<4 { reader.begin("read", ["stream": .string(writer.make())]) }
        reader.client.send(#"{"task":"work","callbackId":"a"}"#)
        reader.client.send(#"{"task":"work","callbackId":"b"}"#)
        reader.client.send(#"{"task":"work","callbackId":"c"}"#)
        #expect(reader.client.readOne()?.errorCode == "busy")
        // They are also accepted when the session has its maximum of calls in flight.
        reader.begin("read", ["stream": .string(writer.make())])
        #expect(reader.answers() == [:])
        bench.runtime.hangUp(reader.client.session)
        #expect(bench.runtime.calls.count == 0)
        #expect(reader.client.session.account.callsInFlight == 0)
    }

    @Test("A client that has ended its input still gets the answers to its reads")
    func inputEnded() {
        let (writer, reader) = (StreamClient(bench), StreamClient(bench))
        let stream = JSON.string(writer.make())
        let read = reader.begin("read", ["stream": stream])
        bench.runtime.endInput(of: reader.client.session)
        #expect(!reader.client.transport.isToBeClosed)
        _ = writer.call("write", ["stream": stream, "base64": hello])
        #expect(reader.answers() == [read: ["base64": hello]])
        #expect(reader.client.transport.isToBeClosed)
    }
}

extension Base64Coding {
    /// Returns the bytes of a text that is valid Base64.
    static func decode(_ text: String) -> [UInt8] { Array(text.utf8).withUnsafeBytes { decode($0) } ?? [] }
}
