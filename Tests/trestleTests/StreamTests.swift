import BridgeJSON
import Testing

@testable import trestle

@Suite("Streams of the command line")
struct StreamTests {
    @Test("A schema determines which values are streams: the whole value, members and nested members")
    func schema() {
        let stream: JSON = ["type": "string", "format": "trestle-stream"]
        #expect(StreamSchema(nil).paths == [])
        #expect(StreamSchema(stream).paths == [[]])
        #expect(StreamSchema(["type": "string", "format": "date"]).paths == [])
        let nested: JSON = ["properties": ["a": stream, "b": ["properties": ["c": stream]], "d": true]]
        #expect(Set(StreamSchema(nested).paths) == [["a"], ["b", "c"]])
    }

    @Test("A value is found and replaced by the names of the members on its path")
    func paths() {
        let options: JSON = ["a": ["b": "@x"], "c": 1]
        #expect(options.value(at: ["a", "b"]) == "@x" && options.value(at: ["a", "x"]) == nil)
        #expect(options.replacing(["a", "b"], by: 2) == ["a": ["b": 2], "c": 1])
        #expect(options.replacing(["x", "b"], by: 2) == options)
        #expect(JSON.string("@x").replacing([], by: 2) == 2)
        #expect(options.hasString(beginningWith: "@") && !options.hasString(beginningWith: "x"))
    }

    @Test("Progress shows the amount, the speed and the remaining time")
    func progress() {
        let half = StreamProgress.text("photo", 10 << 20, of: 30 << 20, after: .seconds(5))
        #expect(half == "photo: 10 MiB of 30 MiB, 2 MiB/s, 10 s left")
        #expect(StreamProgress.text("", 512, of: nil, after: .seconds(1)) == "512 bytes, 512 bytes/s")
        #expect(StreamProgress.text("", 0, of: 9, after: .zero) == "0 bytes of 9 bytes, 0 bytes/s")
    }
}
