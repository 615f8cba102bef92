import BridgeJSON
import Testing

@testable import trestle

@Suite("Schemas as types")
struct SchemaShapesTests {
    private func declare(_ schema: JSON) -> [TypeDeclaration] {
        var names = GeneratedNames(reserved: ["T"])
        return SchemaShapes.declare(schema, as: "T", note: "", &names)
    }

    private func shape(_ schema: JSON) -> TypeShape? {
        if case .alias(let shape) = declare(schema).first?.content { shape } else { nil }
    }

    private func members(_ schema: JSON, _ name: String = "T") -> [TypeMember] {
        let declaration = declare(schema).first { $0.name == name }
        if case .object(let members, _) = declaration?.content { return members }
        return []
    }

    private func member(_ key: String, _ shape: TypeShape, isRequired: Bool = false, note: String = "") -> TypeMember {
        TypeMember(key: key, shape: shape, isRequired: isRequired, note: note)
    }

    @Test(
        "A schema becomes the type of its values",
        arguments: [
            (true, .unknown), (false, .unknown), ([:], .unknown), ("no schema", .unknown),
            (["type": "string"], .string), (["type": "integer"], .integer), (["type": "number"], .number),
            (["type": "boolean"], .boolean), (["type": "null"], .null), (["type": "nothing"], .unknown),
            (["type": ["string", "null"]], .union([.string, .null])),
            (["type": ["string", "string"]], .string),
            (["enum": ["a", "b", nil]], .union([.literal("a"), .literal("b"), .null])),
            (["const": 3], .literal(3)), (["const": 1.5], .number), (["const": 9_007_199_254_740_993], .number),
            (["const": [1]], .unknown), (["enum": []], .unknown),
            (["type": "array"], .array(.unknown)),
            (["type": "array", "items": ["type": "string"]], .array(.string)),
            (
                ["prefixItems": [["type": "string"], ["type": "null"]], "items": false],
                .array(.union([.string, .null]))
            ),
            (["prefixItems": [["type": "string"]]], .array(.unknown)),
            (["type": "object"], .map(.unknown)),
            (["type": "object", "additionalProperties": ["type": "integer"]], .map(.integer)),
            (["type": "object", "properties": [:]], .map(.unknown)),
            (["anyOf": [["type": "string"], ["type": "integer"]]], .union([.string, .integer])),
            (["oneOf": [["type": "string"], true]], .unknown),
            (["allOf": [["type": "string"], ["minLength": 1]]], .string),
            (["$ref": "#/$defs/a~1b", "$defs": ["a/b": ["type": "string"]]], .string),
            (["$ref": "#/anyOf/0", "anyOf": [["type": "string"]]], .string),
            (["$ref": "#/nowhere"], .unknown), (["$ref": "http://example.org/schema"], .unknown),
        ] as [(JSON, TypeShape)])
    func values(schema: JSON, expected: TypeShape) { #expect(shape(schema) == expected) }

    @Test("An object's members are required or optional, and nested objects are separate types")
    func objects() {
        let schema: JSON = [
            "type": "object", "required": ["a"],
            "properties": [
                "a": ["type": "string", "description": "First."],
                "b-c": ["type": "array", "items": ["type": "object", "properties": ["d": true]]],
            ],
        ]
        #expect(
            members(schema) == [
                member("a", .string, isRequired: true, note: "First."), member("b-c", .array(.named("TBCItem"))),
            ])
        #expect(members(schema, "TBCItem") == [member("d", .unknown)])
    }

    @Test("Combined schemas become the members of one object")
    func together() {
        let schema: JSON = [
            "allOf": [["$ref": "#/$defs/base"], ["properties": ["b": ["type": "integer"]], "required": ["b"]]],
            "$defs": ["base": ["type": "object", "properties": ["a": ["type": "string"]], "required": ["a"]]],
        ]
        let declarations = declare(schema)
        #expect(declarations.first?.content == .alias(.named("T2")))
        #expect(members(schema, "T2").map(\.key) == ["a", "b"])
        #expect(members(schema, "T2").map { $0.isRequired } == [true, true])
    }

    @Test("Alternative sets of required members become alternative types")
    func choices() {
        let schema: JSON = [
            "type": "object", "properties": ["user": ["type": "string"], "token": ["type": "string"]],
            "oneOf": [["required": ["user"]], ["required": ["token"]]],
        ]
        #expect(shape(schema) == .union([.named("T1"), .named("T2")]))
        #expect(members(schema, "T1") == [member("user", .string, isRequired: true), member("token", .string)])
    }

    @Test("A recursive schema is one type, or unknown if it never reaches an object")
    func circles() {
        let tree: JSON = [
            "type": "object",
            "properties": ["kids": ["type": "array", "items": ["$ref": "#"]], "next": ["$ref": "#/$defs/node"]],
            "$defs": ["node": ["type": "object", "properties": ["next": ["$ref": "#/$defs/node"]]]],
        ]
        #expect(members(tree) == [member("kids", .array(.named("T"))), member("next", .named("TNode"))])
        #expect(members(tree, "TNode") == [member("next", .named("TNode"))])
        for circle in [
            ["$ref": "#"], ["allOf": [["$ref": "#"], ["$ref": "#"]]], ["anyOf": [["$ref": "#"]]],
            ["$ref": "#/$defs/a", "$defs": ["a": ["$ref": "#/$defs/b"], "b": ["$ref": "#/$defs/a"]]],
        ] as [JSON] {
            #expect(shape(circle) == .unknown, "\(circle.text)")
        }
        #expect(shape(["type": "array", "items": ["$ref": "#"]]) == .array(.array(.unknown)))
    }

    @Test("Huge and deep schemas have declarations with bounded, distinct names")
    func floods() {
        var defs: JSONObject = ["d60": ["type": "string"]]
        for level in 0..<60 {
            let next: JSON = ["$ref": .string("#/$defs/d\(level + 1)")]
            defs["d\(level)"] = [
                "type": "object", "additionalProperties": ["anyOf": [["allOf": [next, next]], next]],
            ]
        }
        _ = declare(["$ref": "#/$defs/d0", "$defs": .object(defs)])
        var deep: JSON = ["type": "string"]
        for _ in 0..<100 { deep = ["type": "object", "properties": ["a very long name of a member": deep]] }
        let declarations = declare(deep)
        #expect(declarations.allSatisfy { $0.name.count < 100 })
        #expect(Set(declarations.map(\.name)).count == declarations.count)
    }
}

@Suite("Hostile text in generated code")
struct GeneratedTextTests {
    private let hostile = "*/ \"\"\" ''' \\ # // \n\r\u{2028}\u{0}\u{1B}[31m\u{202E}\u{61C} /* ${x} \\"

    private var task: JSON {
        [
            "name": .string(hostile), "summary": .string(hostile),
            "options": [
                "description": .string(hostile), "type": "object",
                "properties": .object([hostile: ["enum": [.string(hostile)], "description": .string(hostile)]]),
            ],
        ]
    }

    private func text(_ language: GeneratedModule.Language) -> String {
        GeneratedModule(language: language, daemon: hostile, patterns: [hostile]).text([task])
    }

    @Test("A TypeScript comment is not ended by its text")
    func typescript() {
        let text = text(.typescript)
        let comments = text.split(separator: "\n").map { $0.drop { $0 == " " } }
            .filter { $0.hasPrefix("/**") || $0.hasPrefix("*") }
        #expect(comments.count { $0.hasPrefix("/**") } > 3)
        #expect(comments.count { $0.hasPrefix("/**") } == comments.count { $0.hasSuffix("*/") })
        for line in comments { #expect(!line.dropLast(2).contains("*/"), "\(line)") }
        checkPlain(text)
    }

    @Test("A Python docstring is not ended by its text")
    func python() {
        let text = text(.python)
        // Quotes outside comments begin or end a line.
        for line in text.split(separator: "\n") {
            let content = line.drop { $0 == " " }
            if content.hasPrefix("#") { continue }
            #expect(!content.dropFirst(3).dropLast(3).contains("\"\"\""), "\(line)")
        }
        checkPlain(text)
    }

    @Test("Quoted strings escape special characters")
    func quoted() {
        #expect(GeneratedText.quoted("a\"b\\\n\u{2028}\u{202E}é") == #""a\"b\\\n\u2028\u202eé""#)
    }

    @Test("Notes are wrapped between words, without empty lines around them")
    func notes() {
        #expect(GeneratedText.lines("\n a  b \n\n") == ["a b"])
        #expect(GeneratedText.lines("") == [])
        let lines = GeneratedText.lines(Array(repeating: "word", count: 50).joined(separator: " "))
        #expect(lines.count == 3)
        #expect(lines.allSatisfy { $0.count <= 100 })
    }

    private func checkPlain(_ text: String) {
        let strange = text.unicodeScalars.filter { scalar in
            scalar.value < 0x20 && scalar != "\n" || (0x7F...0x9F).contains(scalar.value)
                || (0x2028...0x202E).contains(scalar.value) || scalar == "\u{61C}"
        }
        #expect(strange.isEmpty)
    }
}
