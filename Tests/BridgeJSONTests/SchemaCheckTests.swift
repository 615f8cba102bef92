import BridgeJSON
import Testing

@Suite("Checking a value against a schema")
struct SchemaCheckTests {
    /// Returns the path, expectation and finding of a misfit; `nil` if the value fits.
    private func misfit(_ value: String, _ schema: JSON) throws -> String? {
        switch try SchemaCheck(schema).misfit(value) {
        case nil: nil
        case .mismatch(let mismatch): "\(mismatch.path): \(mismatch.expected), not \(mismatch.got)"
        case .tooMuch(let reason): "too much: \(reason)"
        }
    }

    private func isRefused(_ schema: JSON) -> String? {
        do throws(JSONSchemaError) {
            _ = try SchemaCheck(schema)
            return nil
        } catch {
            return error.description
        }
    }

    @Test(
        "Types are distinguished, and an integer may have a fraction of zero",
        arguments: [
            ("1", "integer", true), ("1.0", "integer", true), ("1e2", "integer", true), ("1.5", "integer", false),
            ("1.5", "number", true), ("1", "number", true), ("\"1\"", "number", false), ("\"a\"", "string", true),
            ("null", "null", true), ("null", "string", false), ("true", "boolean", true), ("0", "boolean", false),
            ("[]", "array", true), ("{}", "array", false), ("{}", "object", true), ("[]", "object", false),
        ])
    func types(value: String, type: String, fits: Bool) throws {
        #expect((try misfit(value, ["type": .string(type)]) == nil) == fits)
    }

    @Test(
        "A mismatch has the same form as in tasks: path, expectation, finding",
        arguments: [
            (#"{"who":7}"#, "$.who: a string, not number 7"), (#"{}"#, "$.who: a string, not nothing"),
            (#"[]"#, "$: an object, not an empty array"), (#"{"who":null}"#, "$.who: a string, not null"),
            (#"{"who":"a","age":-1}"#, "$.age: an integer from 0 to 150, not number -1"),
            (#"{"who":"a","age":150.5}"#, "$.age: an integer from 0 to 150, not number 150.5"),
            (#"{"who":"a","kind":"x"}"#, "$.kind: one of: cat, dog, not string \"x\""),
            (#"{"who":"a","tags":["a",{}]}"#, "$.tags[1]: a string, not an empty object"),
            (#"{"who":"a","tags":["a","b","c"]}"#, "$.tags: an array of at most 2 elements, not 3"),
            (#"{"who":""}"#, "$.who: a string of 1 to 3 characters, not 0"),
            (#"{"who":"a","x y":1}"#, #"$["x y"]: one of the keys who, age, kind, tags, not an unknown key"#),
        ])
    func words(value: String, message: String) throws {
        let schema: JSON = [
            "type": "object", "required": ["who"], "additionalProperties": false,
            "properties": [
                "who": ["type": "string", "minLength": 1, "maxLength": 3],
                "age": ["type": ["integer", "null"], "minimum": 0, "maximum": 150],
                "kind": ["enum": ["cat", "dog"]],
                "tags": ["type": "array", "maxItems": 2, "items": ["type": "string"]],
            ],
        ]
        #expect(try misfit(value, schema) == message)
        #expect(try misfit(#"{"who":"äöü","age":null,"kind":"dog","tags":["a"]}"#, schema) == nil)
    }

    @Test("Exclusive bounds exclude themselves, and all bounds are exact beyond the precision of doubles")
    func bounds() throws {
        #expect(try misfit("5", ["exclusiveMinimum": 5]) == "$: a number above 5, not number 5")
        #expect(try misfit("5.0001", ["exclusiveMinimum": 5]) == nil)
        #expect(try misfit("5", ["type": "number", "exclusiveMaximum": 5, "minimum": 1]) != nil)
        #expect(try misfit("9007199254740993", ["maximum": 9_007_199_254_740_992]) != nil)
        #expect(try misfit("9007199254740992", ["maximum": 9_007_199_254_740_992]) == nil)
        #expect(try misfit("1e400", ["maximum": 3]) != nil)
    }

    @Test("true accepts everything, false nothing, and null differs from a missing member")
    func plain() throws {
        #expect(try misfit("[1]", true) == nil)
        #expect(try misfit("[1]", false) == "$: nothing, not an array")
        #expect(try misfit(#"{"a":1}"#, ["additionalProperties": false]) == "$.a: no member at all, not an unknown key")
        #expect(try misfit(#"{"a":1}"#, ["additionalProperties": ["type": "string"]]) == "$.a: a string, not number 1")
        #expect(try misfit("{}", ["required": ["a"]]) == "$.a: a value, not nothing")
        #expect(try misfit("{}", ["minProperties": 1]) == "$: an object of at least 1 members, not 0")
        #expect(try SchemaCheck(["description": "x", "title": "y"]).allowsAnything)
        #expect(try !SchemaCheck(["type": "object"]).allowsAnything)
    }

    @Test("Combinations are checked, and the nearest alternative gives the error")
    func combinations() throws {
        let point: JSON = ["type": "object", "required": ["x"], "properties": ["x": ["type": "number"]]]
        let any: JSON = ["anyOf": [["type": "string"], point]]
        #expect(try misfit("\"a\"", any) == nil)
        #expect(try misfit("7", any) == "$: a string or an object, not number 7")
        #expect(try misfit(#"{"x":"1"}"#, any) == "$.x: a number, not string \"1\"")
        let one: JSON = ["oneOf": [["type": "integer"], ["type": "number", "minimum": 10]]]
        #expect(try misfit("5", one) == nil)
        #expect(try misfit("10.5", one) == nil)
        #expect(try misfit("12", one)?.contains("exactly one of") == true)
        #expect(try misfit("null", ["not": ["type": "null"]]) == "$: anything but null, not null")
        #expect(
            try misfit("5", ["allOf": [["minimum": 1], ["maximum": 4]]]) == "$: a number of at most 4, not number 5")
        #expect(try misfit("1.0", ["const": 1]) == nil)
        #expect(try misfit("2", ["const": 1]) == "$: 1, not number 2")
    }

    @Test("The first elements have their own schemas, the others a common one")
    func elements() throws {
        let schema: JSON = ["prefixItems": [["type": "string"], ["type": "integer"]], "items": false]
        #expect(try misfit(#"["a",1]"#, schema) == nil)
        #expect(try misfit(#"["a"]"#, schema) == nil)
        #expect(try misfit(#"["a","b"]"#, schema) == "$[1]: an integer, not string \"b\"")
        #expect(try misfit(#"["a",1,2]"#, schema) == "$[2]: nothing, not number 2")
    }

    @Test("A schema may refer to its parts and to itself")
    func references() throws {
        let tree: JSON = [
            "$ref": "#/$defs/a~1b",
            "$defs": [
                "a/b": [
                    "type": "object", "required": ["name"],
                    "properties": ["name": ["type": "string"], "parts": ["items": ["$ref": "#"]]],
                ]
            ],
        ]
        #expect(try misfit(#"{"name":"a","parts":[{"name":"b","parts":[]}]}"#, tree) == nil)
        #expect(
            try misfit(#"{"name":"a","parts":[{"name":"b","parts":[{}]}]}"#, tree)
                == "$.parts[0].parts[0].name: a string, not nothing")
    }

    @Test("An invalid schema or reference is refused with its position")
    func broken() {
        for (schema, message) in [
            (3, "$: a schema is an object"), (["type": "strong"], "$.type: there is no type"),
            (["properties": ["a": ["enum": 3]]], "$.properties.a.enum: expected an array"),
            (["minimum": "1"], "$.minimum: expected a number"),
            (["minItems": -1], "$.minItems: expected an integer of at least 0"),
            (["multipleOf": 0], "$.multipleOf: expected a number above 0"),
            (["$ref": "#/$defs/x"], "there is no #/$defs/x"),
            (["$ref": "http://example.org/x"], "same document"), (["$ref": "#"], "without end"),
            (["anyOf": [["not": ["$ref": "#"]]]], "without end"), (["items": 3], "$.items: a schema"),
            (["required": [1]], "$.required: expected an array of names"),
            (["allOf": [:]], "$.allOf: expected an array"),
            (["allOf": []], "$.allOf: expected an array with at least one"),
            (["required": "a"], "$.required: expected an array of names"),
            (["dependencies": [:]], "it has dependentRequired"), (["uniqueItems": 1], "true or false"),
            (["$schema": "http://json-schema.org/draft-07/schema#"], "$.$schema: only the vocabulary"),
        ] as [(JSON, String)] {
            #expect(isRefused(schema)?.contains(message) == true, "\(schema.text): \(isRefused(schema) ?? "taken")")
        }
    }

    @Test("A check whose steps multiply ends with an error of its own, and accepts nothing")
    func multiplying() throws {
        var definitions = JSONObject()
        for level in 0..<40 {
            let next: JSON = level == 39 ? ["type": "string"] : ["$ref": .string("#/$defs/l\(level + 1)")]
            definitions["l\(level)"] = ["anyOf": [next, next]]
        }
        let message = try misfit("1", ["$ref": "#/$defs/l0", "$defs": .object(definitions)])
        #expect(message == "too much: the check of these options takes more than 1000000 steps")
    }

    @Test("A value fits the schema of a type exactly if it can be decoded as that type")
    func sameAsDecoding() throws {
        enum Kind: String, Codable, CaseIterable { case cat, dog }
        struct Inner: Codable {
            var number: Int8
            var text: String?
        }
        struct Sample: Codable {
            var name: String
            var flag: Bool?
            var kind: Kind?
            var inner: Inner
            var list: [Inner]?
            var table: [String: Int16]?
        }
        let check = try SchemaCheck(try JSONSchema.derive(from: Sample.self))
        let parts = [
            "null", "true", "1", "-200", "1.5", "\"cat\"", "\"cow\"", "[]", "{}", #"{"number":1}"#, #"{"number":200}"#,
            #"[{"number":1,"text":"a"}]"#, #"[{"text":"a"}]"#, #"{"a":1,"b":-7}"#, #"{"a":40000}"#,
        ]
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<4_000 {
            var members: [String] = []
            for key in ["name", "flag", "kind", "inner", "list", "table"]
            where Int.random(in: 0..<4, using: &generator) > 0 {
                members.append("\"\(key)\":\(parts.randomElement(using: &generator) ?? "1")")
            }
            let text = "{\(members.joined(separator: ","))}"
            let decodes = (try? decode(Sample.self, Array(text.utf8))) != nil
            #expect((check.misfit(text) == nil) == decodes, "\(text)")
        }
    }
}
