import TestSupport
import Testing

@testable import BridgeJSON

@Suite("Values that stay text")
struct CompactJSONTests {
    private struct Holder: Codable {
        var value: CompactJSON
        var other: CompactJSON?
    }

    /// Returns the text of the member `value`.
    private func decoded(_ text: String) throws -> String {
        let holder = try JSONCoding.decode(Holder.self, text: Array(text.utf8))
        return String(decoding: holder.value.bytes, as: UTF8.self)
    }

    @Test(
        "White space, duplicate keys and needless escapes are removed; number texts stay",
        arguments: [
            ("{\"value\": [ 1 ,\n2.50e+1 ,\t{ } , [ ] ] }", "[1,2.50e+1,{},[]]"),
            (#"{"value":{"a":1,"b":2,"a":{"x":3}}}"#, #"{"a":{"x":3},"b":2}"#),
            (#"{"value":"\u0041\/\u00e9\n\u0001\"\\\ud83d\ude00"}"#, #""A/é\n\u0001\"\\😀""#),
            (#"{"value":{"\u0061":1,"a":2}}"#, #"{"a":2}"#),
            (#"{"value":null,"other":null}"#, "null"), (#"{"value":true}"#, "true"), (#"{"value":-0}"#, "-0"),
        ])
    func examples(_ text: String, _ expected: String) throws {
        #expect(try decoded(text) == expected)
    }

    @Test("The compact form of any text is that of the parsed value")
    func property() throws {
        var generator = SeededGenerator(seed: 7396)
        let seed = Array(#"{"a":[1,-2.5e3,"x\n\u0041é",{"b":null,"a":true}],"":{"a":1,"b":[[],{}]}}"#.utf8)
        var count = 0
        for _ in 0..<20_000 {
            let text = generator.mutate(seed, changes: 0...3)
            let value = try? JSON(parsing: text)
            let compact = text.withUnsafeBytes { CompactJSON(parsing: $0) }
            #expect(compact?.bytes == value?.bytes)
            #expect(compact?.typeName == value?.typeName)
            if value != nil { count += 1 }
        }
        #expect(count > 4000)
    }

    @Test("The text is written as it is, and is read from a JSON value")
    func encoding() throws {
        let value: JSON = ["a": [1, "x", .null], "b": 2.5]
        let holder = Holder(value: CompactJSON(value))
        #expect(try JSONCoding.encode(holder) == JSON.object(["value": value]).bytes)
        let decoded = try JSONCoding.decode(Holder.self, from: ["value": value])
        #expect(decoded.value == holder.value)
    }

    @Test("Text that is nested too deeply, or is not JSON, is refused", arguments: ["[", "", "{}x", "01"])
    func broken(_ text: String) {
        #expect(Array(text.utf8).withUnsafeBytes { CompactJSON(parsing: $0) } == nil)
        let deep = String(repeating: "[", count: 129) + String(repeating: "]", count: 129)
        #expect(Array(deep.utf8).withUnsafeBytes { CompactJSON(parsing: $0) } == nil)
    }
}
