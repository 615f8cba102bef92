import TaskKit
import TestSupport
import Testing

@testable import PersistenceTasks

@Suite("Merge patches (RFC 7396)")
struct MergePatchTests {
    @Test(
        "The examples of the RFC's appendix",
        arguments: [
            (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
            (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
            (#"{"a":"b"}"#, #"{"a":null}"#, #"{}"#),
            (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
            (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
            (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
            (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
            (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#),
            (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
            (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#),
            (#"{"a":"foo"}"#, #"null"#, #"null"#),
            (#"{"a":"foo"}"#, #""bar""#, #""bar""#),
            (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#),
            (#"[1,2]"#, #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
            (#"{}"#, #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
        ])
    func examples(_ target: String, _ patch: String, _ result: String) throws {
        let merged = MergePatch.apply(try JSON(parsing: patch), to: try JSON(parsing: target))
        if let members = try JSON(parsing: patch).objectValue, try JSON(parsing: target).objectValue != nil {
            #expect(try MergePatch.apply(members, toText: Array(target.utf8)) == merged.bytes)
        }
        #expect(merged.text == result)
    }

    private func randomValue(_ depth: Int, _ generator: inout SeededGenerator) -> JSON {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 5), using: &generator) {
        case 0: .null
        case 1: .bool(.random(using: &generator))
        case 2: .number(JSONNumber(Int.random(in: -3...3, using: &generator)))
        case 3, 4:
            .string(["", "a", "\"}", "\\", "é", "e\u{301}", "\u{0}", "[{,:"].randomElement(using: &generator) ?? "")
        case 5: .array((0..<Int.random(in: 0...3, using: &generator)).map { _ in randomValue(depth - 1, &generator) })
        default: .object(randomObject(depth - 1, &generator))
        }
    }

    private func randomObject(_ depth: Int, _ generator: inout SeededGenerator) -> JSONObject {
        var object = JSONObject()
        for _ in 0..<Int.random(in: 0...5, using: &generator) {
            let name = ["a", "b", "é", "e\u{301}", "\"", "\\n", "\n", "a b", ""].randomElement(using: &generator) ?? ""
            object[name] = randomValue(depth, &generator)
        }
        return object
    }

    @Test("A patch to a text makes what a patch to its values makes, byte for byte")
    func texts() throws {
        var generator = SeededGenerator(seed: 20_261_123)
        for _ in 0..<3000 {
            let (target, patch) = (randomObject(3, &generator), randomObject(3, &generator))
            let text = JSON.object(target).bytes
            let merged = try MergePatch.apply(patch, toText: text)
            #expect(merged == MergePatch.apply(.object(patch), to: .object(target)).bytes)
        }
    }

    @Test("A text that is written with spaces, or escapes names, is patched all the same")
    func otherSpellings() throws {
        let text = Array(#" { "\u0061" : 1 , "b":{ "c" : [ 1 , {"d":"}"} ] } , "e" : true } "#.utf8)
        let merged = try MergePatch.apply(["a": .null, "b": ["x": 1], "e": false, "f": 0], toText: text)
        #expect(try JSON(parsing: merged) == ["b": ["c": [1, ["d": "}"]], "x": 1], "e": false, "f": 0])
    }

    @Test("A text that is no object is refused, wherever it is cut")
    func broken() throws {
        let text = Array(#"{"a":[1,{"b":"x\"y"}],"c":12}"#.utf8)
        for length in 0..<text.count {
            #expect(throws: (any Error).self) { try MergePatch.apply(["z": 1], toText: Array(text.prefix(length))) }
        }
        #expect(throws: (any Error).self) { try MergePatch.apply(["z": 1], toText: Array("[1]".utf8)) }
    }

    @Test("What the patch does not mention keeps its number text and its place")
    func untouched() throws {
        let target = try JSON(parsing: #"{"big":12345678901234567890123,"x":1,"small":1.10e+2}"#)
        let merged = MergePatch.apply(["x": 2, "y": .null], to: target)
        #expect(merged.text == #"{"big":12345678901234567890123,"x":2,"small":1.10e+2}"#)
    }
}
