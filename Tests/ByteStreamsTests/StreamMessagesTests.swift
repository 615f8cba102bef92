import BridgeJSON
import ByteStreams
import Testing

@Suite("The daemon's answers about streams")
struct StreamMessagesTests {
    private func error<R>(_ body: () throws(BridgeError) -> R) -> BridgeError? {
        do throws(BridgeError) {
            _ = try body()
            return nil
        } catch {
            return error
        }
    }

    @Test("The end is an error unless all written bytes were received")
    func count() throws {
        var read = ReadBytes()
        #expect(try read.take(StreamChunk(["base64": "AAAA"])) == [0, 0, 0])
        #expect(
            error { () throws(BridgeError) in try read.take(StreamChunk(["end": true, "bytes": 4])) }?.code
                == .streamInvalid)
        #expect(error { () throws(BridgeError) in try read.take(StreamChunk(["end": true])) }?.code == .streamInvalid)
        #expect(try read.take(StreamChunk(["end": true, "bytes": 3])) == nil)
    }

    @Test(
        "An answer without bytes is an error",
        arguments: [[:], ["base64": ""], ["base64": "A"], ["base64": 7]] as [JSON])
    func noBytes(answer: JSON) {
        var read = ReadBytes()
        #expect(error { () throws(BridgeError) in try read.take(StreamChunk(answer)) }?.code == .streamInvalid)
    }

    @Test("The announcement is taken from the first chunk")
    func announcement() throws {
        var read = ReadBytes()
        #expect(read.announcement == nil)
        _ = try read.take(StreamChunk(["base64": "AAAA", "type": "image/png", "totalBytes": 6]))
        _ = try read.take(StreamChunk(["base64": "AAAA"]))
        #expect(read.announcement?.type == "image/png" && read.announcement?.totalBytes == 6)
    }

    @Test("An incomplete receipt is an error with the end's originator, byte count and reason")
    func receipt() {
        #expect(error { () throws(BridgeError) in try StreamReceipt(["complete": true, "bytes": 3]).check() } == nil)
        let given: JSON = ["code": "album.full", "message": "the album is full"]
        let failure = error { () throws(BridgeError) in
            try StreamReceipt(["complete": false, "by": "reader", "bytes": 3, "error": given]).check()
        }
        #expect(failure?.code == .streamClosed)
        #expect(
            failure?.message
                == "the reader ended the stream after 3 bytes, before it was complete: the album is full")
        #expect(failure?.data?["by"] == "reader" && failure?.data?["bytes"] == 3)
    }

    @Test("The reason of an end is limited to 600 bytes of JSON", arguments: ["a", "\"", "\u{1}", "\u{1F600}"])
    func reason(unit: String) {
        let text = String(repeating: unit, count: 3_000)
        let reason = StreamOptions.leave(BridgeError(.internal, text))["error"]?["message"] ?? .null
        #expect(reason.bytes.count > 500 && reason.bytes.count <= 600)
        let shown = reason.stringValue ?? ""
        #expect(shown.hasSuffix("…") && text.hasPrefix(shown.dropLast()))
        #expect(StreamOptions.leave(BridgeError(.internal, unit))["error"]?["message"]?.stringValue == unit)
    }

    @Test(
        "A piece fits into a message, however small the message limit is", arguments: [1_024, 2_048, 32_768, 1 << 20])
    func pieces(messageBytes: Int) {
        let size = StreamRoom(bytes: 1 << 20, messageBytes: messageBytes).size(of: 1 << 20)
        #expect(size > 0 && Base64Coding.textBytes(of: size) + 200 <= messageBytes)
    }

    @Test("A writer never has more unanswered bytes than its window, for random sizes and answers")
    func room() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            let window = Int.random(in: 1...300_000, using: &generator)
            var (room, sent) = (StreamRoom(bytes: window, messageBytes: 1 << 20), [Int]())
            for _ in 0..<200 {
                let size = room.size(of: Int.random(in: 1...100_000, using: &generator))
                if size > 0, Bool.random(using: &generator) {
                    room.noteSent(size)
                    sent.append(size)
                } else if !sent.isEmpty {
                    room.noteAnswer(of: sent.removeFirst(), roomBytes: window)
                }
                #expect(sent.reduce(0, +) <= window)
                #expect(!sent.isEmpty || room.size(of: 1) == 1)
            }
        }
    }
}
