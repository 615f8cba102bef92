import TaskKit
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
        #expect(merged.text == result)
    }

    @Test("What the patch does not mention keeps its number text and its place")
    func untouched() throws {
        let target = try JSON(parsing: #"{"big":12345678901234567890123,"x":1,"small":1.10e+2}"#)
        let merged = MergePatch.apply(["x": 2, "y": .null], to: target)
        #expect(merged.text == #"{"big":12345678901234567890123,"x":2,"small":1.10e+2}"#)
    }
}
