import BridgeJSON
import Testing

@Suite("Mismatches")
struct MismatchTests {
    enum Kind: String, Codable, CaseIterable { case alert, confirm, prompt }

    struct Request: Codable, Equatable {
        struct Condition: Codable, Equatable {
            var name: String
            var value: UInt8
        }
        var kind: Kind
        var conditions: [Condition]
        var extra: [String: Condition]?
        var flag: Bool?
    }

    private func mismatch<T: Decodable>(
        _ type: T.Type, _ text: String, unknownKeys: UnknownKeys = .ignore
    ) -> JSONMismatch? {
        do throws(JSONMismatch) {
            _ = try decode(type, Array(text.utf8), unknownKeys: unknownKeys)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "An error in an array of plain values names the element that does not fit",
        arguments: [
            (#"{"strings":["a",["b"]]}"#, "$.strings[1]", "a string", "an array"),
            (#"{"integers":[1,2.5]}"#, "$.integers[1]", "an integer from \(Int.min) to \(Int.max)", "number 2.5"),
            (#"{"doubles":[null]}"#, "$.doubles[0]", "a number", "null"),
            (#"{"nested":[[],["a",7]]}"#, "$.nested[1][1]", "a string", "number 7"),
        ])
    func elements(text: String, path: String, expected: String, got: String) {
        let found = mismatch(FoundationComparisonTests.Lists.self, text)
        #expect(found?.path == path)
        #expect(found?.expected == expected)
        #expect(found?.got == got)
    }

    @Test(
        "A mismatch contains the path, the expectation and the value found",
        arguments: [
            ("null", "$", "an object", "null"),
            ("[", "$", "JSON", "expected a value at byte 1"),
            ("{}", "$.kind", "one of: alert, confirm, prompt", "nothing"),
            (#"{"kind":"x","conditions":[]}"#, "$.kind", "one of: alert, confirm, prompt", #"string "x""#),
            (#"{"kind":7,"conditions":[]}"#, "$.kind", "one of: alert, confirm, prompt", "number 7"),
            (#"{"kind":"alert"}"#, "$.conditions", "a value", "nothing"),
            (#"{"kind":"alert","conditions":{}}"#, "$.conditions", "an array", "an empty object"),
            (
                #"{"kind":"alert","conditions":[{"name":"a","value":1},{"name":true,"value":1}]}"#,
                "$.conditions[1].name", "a string", "true"
            ),
            (#"{"kind":"alert","conditions":[{"name":"a"}]}"#, "$.conditions[0].value", "an integer", "nothing"),
            (
                #"{"kind":"alert","conditions":[{"name":"a","value":256}]}"#,
                "$.conditions[0].value", "an integer from 0 to 255", "number 256"
            ),
            (
                #"{"kind":"alert","conditions":[{"name":"a","value":"1"}]}"#,
                "$.conditions[0].value", "an integer", #"string "1""#
            ),
            (#"{"kind":"alert","conditions":[],"flag":1}"#, "$.flag", "true or false", "number 1"),
            (
                #"{"kind":"alert","conditions":[],"extra":{"a b":[]}}"#, #"$.extra["a b"]"#, "an object",
                "an empty array"
            ),
            (
                #"{"kind":"alert","conditions":[],"extra":{"":{"name":null}}}"#,
                #"$.extra[""].name"#, "a string", "null"
            ),
        ])
    func paths(_ text: String, _ path: String, _ expected: String, _ got: String) {
        #expect(mismatch(Request.self, text) == JSONMismatch(path: path, expected: expected, got: got))
    }

    @Test("Long values are shortened")
    func long() {
        let text = String(repeating: "x", count: 10_000)
        #expect((mismatch(Int.self, "\"\(text)\"")?.got.count ?? .max) < 100)
        #expect((mismatch(String.self, String(repeating: "9", count: 10_000))?.got.count ?? .max) < 100)
    }

    @Test("Long keys are shortened, also a key of one long character")
    func longKeys() throws {
        let key = String(repeating: "k", count: 64)
        #expect(mismatch([String: Int].self, "{\"\(key)\":null}")?.path == "$.\(key)")
        #expect(mismatch([String: Int].self, "{\"\(key)k\":null}")?.path == "$.\(key)…")
        #expect(mismatch([String: Int].self, "{\"a \(key)\":null}")?.path == "$[\"a \(key.dropLast(2))…\"]")
        let marks = "e" + String(repeating: "\u{301}", count: 10_000)
        #expect((mismatch([String: Int].self, "{\"\(marks)\":null}")?.path.utf8.count ?? .max) < 200)
        #expect((mismatch(Int.self, "\"\(marks)\"")?.got.utf8.count ?? .max) < 200)
        let unknown = mismatch(
            Request.Condition.self, "{\"name\":\"\",\"value\":1,\"\(key)k\":1}", unknownKeys: .refuse)
        #expect(unknown?.path == "$.\(key)…")
    }

    @Test("Unknown keys are ignored, or refused with the known keys")
    func unknownKeys() {
        let text = #"{"kind":"alert","conditions":[{"name":"a","value":1,"vale":2}],"flag":null}"#
        #expect(mismatch(Request.self, text) == nil)
        let unknown = mismatch(Request.self, text, unknownKeys: .refuse)
        #expect(unknown?.path == "$.conditions[0].vale")
        #expect(unknown?.knownKeys == ["name", "value"])
        #expect(unknown?.isUnknownKey == true)
        #expect(unknown?.got == "an unknown key")
        let top = mismatch(Request.self, #"{"kind":"alert","conditions":[],"Kind":1}"#, unknownKeys: .refuse)
        #expect(top?.path == "$.Kind")
        #expect(top?.knownKeys == ["conditions", "extra", "flag", "kind"])
    }

    @Test("Keys of dictionaries and members within JSON are never unknown")
    func openKeys() {
        struct Open: Codable {
            var any: JSON
            var dictionary: [String: Int]
        }
        let text = #"{"any":{"x":{"y":1}},"dictionary":{"p":1,"q":2}}"#
        #expect(mismatch(Open.self, text, unknownKeys: .refuse) == nil)
        #expect(mismatch([String: JSON].self, text, unknownKeys: .refuse) == nil)
        #expect(mismatch(JSON.self, text, unknownKeys: .refuse) == nil)
    }

    @Test("A type without members accepts an empty object, and ignores unknown keys by default")
    func empty() {
        struct Empty: Codable {}
        #expect(mismatch(Empty.self, "{}", unknownKeys: .refuse) == nil)
        #expect(mismatch(Empty.self, #"{"a":1}"#) == nil)
    }

    @Test("An error thrown by a type's own decoding becomes a mismatch at its path")
    func ownErrors() {
        struct Even: Decodable {
            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                guard try container.decode(Int.self) % 2 == 0 else {
                    throw DecodingError.dataCorruptedError(in: container, debugDescription: "odd")
                }
            }
        }
        #expect(
            mismatch([Even].self, "[2,4,5]")
                == JSONMismatch(
                    path: "$[2]", expected: "a valid value (odd)", got: "number 5"))
        #expect(mismatch([Even].self, #"[2,"4"]"#)?.path == "$[1]")
    }

    @Test("100,000 keys are read in linear time")
    func hostile() {
        let text = "{" + (0..<100_000).map { "\"k\($0)\":1" }.joined(separator: ",") + "}"
        #expect(mismatch([String: Int].self, text, unknownKeys: .refuse) == nil)
        #expect(mismatch(Request.self, text)?.path == "$.kind")
    }

    @Test("The description reads as the end of a sentence")
    func description() {
        let mismatch = JSONMismatch(path: "$.a", expected: "a string", got: "null")
        #expect("\(mismatch)" == "$.a: expected a string; got null")
    }
}
