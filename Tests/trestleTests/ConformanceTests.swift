import BridgeJSON
import Testing

@testable import trestle

@Suite("The pattern of a vector")
struct VectorPatternTests {
    private func misfit(_ message: JSON, _ pattern: JSON) -> String? {
        var matcher = VectorPattern()
        return matcher.misfit(message, pattern)
    }

    @Test("Values must be equal; members may be in any order")
    func equal() {
        #expect(misfit(["a": 1, "b": [true, nil]], ["b": [true, nil], "a": 1]) == nil)
        #expect(misfit(["a": 1], ["a": 2]) == "$.a: expected 2; got 1")
        #expect(misfit(["a": [1, ["b": "x"]]], ["a": [1, ["b": "y"]]]) == #"$.a[1].b: expected "y"; got "x""#)
        #expect(misfit(["a": 1], [:]) == "$.a: expected nothing; got 1")
        #expect(misfit([:], ["a": 1]) == "$.a: expected 1; got nothing")
        #expect(misfit([1], [1, 2]) == "at $ 2 items were expected, not 1")
    }

    @Test("A name has the same value at each occurrence and is replaced in messages to send")
    func names() {
        var pattern = VectorPattern()
        #expect(pattern.misfit(["a": 7, "b": 8], ["a": "<id>", "b": "<other>"]) == nil)
        #expect(pattern.misfit(["x": 7], ["x": "<id>"]) == nil)
        #expect(pattern.misfit(["x": 9], ["x": "<id>"]) == "$.x: expected 7; got 9")
        #expect(pattern.filled(["callbackId": "<id>", "c": ["<unknown>"]]) == ["callbackId": 7, "c": ["<unknown>"]])
        #expect(pattern.filled(text: "{<id>:<<other>}<") == "{7:<8}<")
    }

    @Test("A message that does not match leaves the names unchanged")
    func unmatched() {
        var pattern = VectorPattern()
        #expect(pattern.misfit(["a": 1, "b": 2], ["a": "<n>", "b": 3]) != nil)
        #expect(pattern.misfit(["a": 5], ["a": "<n>"]) == nil)
    }

    @Test("Parts that the pattern omits may be present: members, and items between and after the others")
    func more() {
        #expect(misfit(["a": 1, "b": 2], ["a": 1, "…": "…"]) == nil)
        #expect(misfit(["b": 2], ["a": 1, "…": "…"]) != nil)
        #expect(misfit([0, 1, 2, 3], [1, 3, "…"]) == nil)
        #expect(misfit([3, 1], [1, 3, "…"]) != nil)
        #expect(misfit([], ["…"]) == nil)
    }
}

@Suite("A vector's file")
struct VectorReaderTests {
    private func fault(_ text: String) -> String? {
        do throws(VectorError) {
            _ = try VectorReader(file: "folder/x.json").read(Array(text.utf8))
            return nil
        } catch {
            return error.description
        }
    }

    @Test("is read with its steps and its requirements")
    func read() throws {
        let text = #"""
            {"rule": "R", "see": "s", "needs": ["Echo"],
             "wire": [{"send": {"task": "Echo"}}, {"sendHex": "7b0a", "connection": "B"}, {"nothing": true}],
             "client": [{"call": "Echo", "result": {}}, {"register": "t", "answer": {"echo": true}}]}
            """#
        let vector = try VectorReader(file: "folder/x.json").read(Array(text.utf8))
        #expect(vector.name == "x")
        #expect(vector.needs == ["Echo"])
        #expect(vector.wire.map(\.connection) == ["A", "B", "A"])
        #expect(vector.client.count == 2)
    }

    @Test(
        "is refused if it is invalid, with the location and the expectation",
        arguments: [
            ("", "it is not valid JSON"), ("[]", "expected an object"),
            (#"{"rule":"R","see":"s"}"#, "it has no steps"),
            (#"{"rule":"R","see":"s","wires":[]}"#, "the member wires is unknown"),
            (#"{"rule":7,"see":"s","wire":[{"end":true}]}"#, "at $.rule expected a string"),
            (#"{"rule":"R","see":"s","wire":[{}]}"#, "at $.wire[0] it must have exactly one of"),
            (#"{"rule":"R","see":"s","wire":[{"send":1,"receive":1}]}"#, "at $.wire[0] it must have exactly one of"),
            (#"{"rule":"R","see":"s","wire":[{"send":1,"on":"B"}]}"#, "the member on is unknown"),
            (#"{"rule":"R","see":"s","wire":[{"sendHex":"7"}]}"#, "pairs of hexadecimal digits"),
            (#"{"rule":"R","see":"s","wire":[{"sendHex":"7x"}]}"#, "pairs of hexadecimal digits"),
            (#"{"rule":"R","see":"s","client":[{"call":"Echo"}]}"#, "a call ends with one of result and error"),
            (#"{"rule":"R","see":"s","client":[{"register":"t"}]}"#, "answer is missing"),
            (
                #"{"rule":"R","see":"s","client":[{"call":"Echo","result":1,"results":2}]}"#,
                "the member results is unknown"
            ),
        ])
    func broken(text: String, reports: String) {
        #expect(fault(text)?.hasPrefix("folder/x.json: ") == true)
        #expect(fault(text)?.contains(reports) == true, "\(fault(text) ?? "taken")")
    }

    @Test("can be read for every vector that is shipped with the program, and the rules are distinct")
    func shipped() throws {
        let folder = try #require(VectorFolder.standard)
        let vectors = try VectorFolder.vectors(at: folder)
        #expect(vectors.count >= 60)
        #expect(Set(vectors.map(\.rule)).count == vectors.count)
    }
}
