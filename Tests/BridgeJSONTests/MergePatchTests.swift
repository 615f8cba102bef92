import TestSupport
import Testing

@testable import BridgeJSON

@Suite("Merge patches (RFC 7396)")
struct MergePatchTests {
    /// Applies a patch by the RFC's pseudocode.
    private func merged(_ patch: JSON, _ target: JSON) -> JSON {
        guard case .object(let members) = patch else { return patch }
        var result = target.objectValue ?? JSONObject()
        for (key, value) in members {
            // `Optional.none`, because a bare nil could also be the JSON null.
            result[key] = value.isNull ? Optional.none : merged(value, result[key] ?? .null)
        }
        return .object(result)
    }

    private func apply(_ patch: JSON, to text: [UInt8]) -> [UInt8]? {
        text.withUnsafeBytes { MergePatch.apply(CompactJSON(patch), to: $0) }
    }

    @Test(
        "The examples of the RFC's appendix with two objects give its results",
        arguments: [
            (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
            (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
            (#"{"a":"b"}"#, #"{"a":null}"#, #"{}"#),
            (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
            (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
            (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
            (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
            (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#),
            (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#),
            (#"{}"#, #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
        ])
    func examples(_ target: String, _ patch: String, _ result: String) throws {
        let made = apply(try JSON(parsing: patch), to: Array(target.utf8))
        #expect(made.map { String(decoding: $0, as: UTF8.self) } == result)
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

    @Test("Patching a text gives the same bytes as patching its values")
    func texts() throws {
        var generator = SeededGenerator(seed: 20_261_123)
        for _ in 0..<3000 {
            let (target, patch) = (randomObject(3, &generator), randomObject(3, &generator))
            let made = apply(.object(patch), to: JSON.object(target).bytes)
            #expect(made == merged(.object(patch), .object(target)).bytes)
        }
    }

    @Test("Deeply nested objects and objects with many keys are patched")
    func deep() {
        var (target, patch, expected): (JSON, JSON, JSON) = (["old": 1], ["new": ["x": .null]], ["old": 1, "new": [:]])
        for level in 0..<JSON.maximumDepth - 3 {
            let keys = (0..<40).map { "k\($0)" }
            if level == 5 {
                target = .object(keys.reduce(into: ["in": target]) { $0[$1] = 1 })
                patch = .object(keys.reduce(into: ["in": patch]) { $0[$1] = .null })
                expected = ["in": expected]
            } else {
                (target, patch, expected) = (["in": target], ["in": patch], ["in": expected])
            }
        }
        #expect(apply(patch, to: target.bytes) == expected.bytes)
    }

    @Test("A text with spaces or escaped names is patched as well")
    func otherSpellings() throws {
        let text = Array(#" { "\u0061" : 1 , "b":{ "c" : [ 1 , {"d":"}"} ] } , "e" : true } "#.utf8)
        let made = try #require(apply(["a": .null, "b": ["x": 1], "e": false, "f": 0], to: text))
        #expect(try JSON(parsing: made) == ["b": ["c": [1, ["d": "}"]], "x": 1], "e": false, "f": 0])
    }

    @Test("A text that is not an object, or is cut anywhere, is refused")
    func broken() throws {
        let text = Array(#"{"a":[1,{"b":"x\"y"}],"c":12}"#.utf8)
        for length in 0..<text.count {
            #expect(apply(["z": 1], to: Array(text.prefix(length))) == nil)
            #expect(apply(["a": .null], to: Array(text.prefix(length))) == nil)
        }
        #expect(apply(["z": 1], to: Array("[1]".utf8)) == nil)
    }

    @Test("A patch that is not an object is refused")
    func noObject() {
        #expect(apply([1], to: Array("{}".utf8)) == nil)
        #expect(apply(.null, to: Array("{}".utf8)) == nil)
    }

    @Test("Members that the patch does not mention keep their number texts and positions")
    func untouched() {
        let target = #"{"big":12345678901234567890123,"x":1,"small":1.10e+2}"#
        let made = apply(["x": 2, "y": .null], to: Array(target.utf8)).map { String(decoding: $0, as: UTF8.self) }
        #expect(made == #"{"big":12345678901234567890123,"x":2,"small":1.10e+2}"#)
    }
}
