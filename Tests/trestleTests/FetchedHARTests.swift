import BridgeJSON
import Testing

@testable import trestle

@Suite("The HAR of trestle fetch")
struct FetchedHARTests {
    private static func result(_ log: JSONObject = [:]) -> JSON {
        let entry: JSON = [
            "time": 5, "timings": ["send": 0, "wait": 5, "receive": 0],
            "response": ["status": 200, "content": ["size": -1, "mimeType": ""]],
        ]
        var log = log
        log["entries"] = [["response": ["content": ["size": -1]]], entry]
        return ["status": 200, "har": ["log": .object(log)]]
    }

    private static func last(_ har: FetchedHAR) -> JSON? {
        har.json?["log"]?["entries"]?.arrayValue?.last
    }

    @Test("The last entry has the received body as text or in base64")
    func body() {
        for (bytes, text, encoding) in [
            (Array("thé".utf8), "thé", nil), ([0xFF, 0x00], "/wA=", "base64"), ([], "", nil),
        ] as [([UInt8], String, JSON?)] {
            let har = FetchedHAR(Self.result())
            har.note(Array(bytes.prefix(1)))
            har.note(Array(bytes.dropFirst()))
            har.end()
            let content = Self.last(har)?["response"]?["content"]
            #expect(content?["text"] == .string(text) && content?["encoding"] == encoding)
            #expect(content?["size"] == .number(JSONNumber(bytes.count)) && content?["comment"] == nil)
            let entry = Self.last(har)
            #expect(entry?["time"]?.int64Value == 5 + (entry?["timings"]?["receive"]?.int64Value ?? -1))
            #expect(har.json?["log"]?["entries"]?[0]?["response"]?["content"] == ["size": -1])
        }
    }

    @Test("A cut body has a comment; a body that is too long, unread or of an omitted entry has no text")
    func others() {
        let cut = FetchedHAR(Self.result())
        cut.note([0x61])
        cut.end(BridgeError("http.interrupted", "the connection ended"))
        let content = Self.last(cut)?["response"]?["content"]
        #expect(content?["text"] == "a")
        #expect(content?["comment"]?.stringValue?.hasPrefix("the body is not complete: ") == true)
        let long = FetchedHAR(Self.result())
        for _ in 0...256 { long.note([UInt8](repeating: 0x61, count: 65_536)) }
        long.end()
        #expect(Self.last(long)?["response"]?["content"]?["text"] == nil)
        #expect(Self.last(long)?["response"]?["content"]?["size"] == 16_842_752)
        let unread = FetchedHAR(Self.result())
        #expect(unread.json == Self.result()["har"])
        let omitted = FetchedHAR(Self.result(["comment": "1 entries are left out"]))
        omitted.note([0x61])
        omitted.end()
        #expect(Self.last(omitted)?["response"]?["content"]?["text"] == nil)
        #expect(FetchedHAR(["status": 200]).json == nil)
    }
}
