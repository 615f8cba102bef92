import BridgeJSON
import Testing

@Suite("Schemas of types")
struct SchemaTests {
    @Test("Plain members have the bounds of their types")
    func plain() throws {
        struct Plain: Codable {
            var flag: Bool
            var text: String
            var double: Double
            var float: Float
            var int: Int
            var small: Int8
            var byte: UInt8
            var large: UInt64
        }
        #expect(
            try JSONSchema.derive(from: Plain.self) == [
                "type": "object",
                "properties": [
                    "flag": ["type": "boolean"], "text": ["type": "string"], "double": ["type": "number"],
                    "float": ["type": "number"], "int": ["type": "integer"],
                    "small": ["type": "integer", "minimum": -128, "maximum": 127],
                    "byte": ["type": "integer", "minimum": 0, "maximum": 255],
                    "large": ["type": "integer", "minimum": 0],
                ],
                "required": ["flag", "text", "double", "float", "int", "small", "byte", "large"],
            ])
    }

    @Test("Optional members are not required, and may be null")
    func optionals() throws {
        struct Optionals: Codable {
            struct Inner: Codable { var a: Int? }
            var text: String?
            var flag: Bool?
            var double: Double?
            var number: Int16?
            var inner: Inner?
            var list: [Inner]?
            var needed: Inner
        }
        let inner: JSON = ["type": "object", "properties": ["a": ["type": ["integer", "null"]]]]
        let innerOrNull: JSON = ["type": ["object", "null"], "properties": ["a": ["type": ["integer", "null"]]]]
        #expect(
            try JSONSchema.derive(from: Optionals.self) == [
                "type": "object",
                "properties": [
                    "text": ["type": ["string", "null"]], "flag": ["type": ["boolean", "null"]],
                    "double": ["type": ["number", "null"]],
                    "number": ["type": ["integer", "null"], "minimum": -32768, "maximum": 32767],
                    "inner": innerOrNull, "list": ["type": ["array", "null"], "items": inner], "needed": inner,
                ],
                "required": ["needed"],
            ])
    }

    @Test("Enumerations list their cases")
    func enumerations() throws {
        enum Kind: String, Codable, CaseIterable { case alert, confirm }
        enum Level: Int, Codable, CaseIterable { case low = 1, high = 10 }
        struct Options: Codable {
            var kind: Kind
            var level: Level?
        }
        #expect(
            try JSONSchema.derive(from: Options.self) == [
                "type": "object",
                "properties": ["kind": ["enum": ["alert", "confirm"]], "level": ["enum": [1, 10, nil]]],
                "required": ["kind"],
            ])
    }

    @Test("Arrays, sets and dictionaries have the schemas of their elements")
    func collections() throws {
        #expect(try JSONSchema.derive(from: [Int].self) == ["type": "array", "items": ["type": "integer"]])
        #expect(try JSONSchema.derive(from: Set<String>.self) == ["type": "array", "items": ["type": "string"]])
        #expect(
            try JSONSchema.derive(from: [[String: Bool]].self) == [
                "type": "array", "items": ["type": "object", "additionalProperties": ["type": "boolean"]],
            ])
        #expect(
            try JSONSchema.derive(from: [Int?].self) == [
                "type": "array", "items": ["type": ["integer", "null"]],
            ])
        #expect(try JSONSchema.derive(from: String?.self) == ["type": ["string", "null"]])
    }

    @Test("JSON accepts anything, its numbers are numbers, and a wrapper has the schema of its content")
    func special() throws {
        struct Wrapped: Codable {
            var value: String
            init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(String.self) }
            func encode(to encoder: any Encoder) throws {}
        }
        struct Holder: Codable {
            var any: JSON
            var maybe: JSON?
            var number: JSONNumber
            var wrapped: Wrapped
        }
        #expect(
            try JSONSchema.derive(from: Holder.self) == [
                "type": "object",
                "properties": [
                    "any": true, "maybe": true, "number": ["type": "number"], "wrapped": ["type": "string"],
                ],
                "required": ["any", "number", "wrapped"],
            ])
        struct Empty: Codable {}
        #expect(try JSONSchema.derive(from: JSON.self) == true)
        #expect(try JSONSchema.derive(from: Int.self) == ["type": "integer"])
        // The type requests nothing, so that any value is accepted.
        #expect(try JSONSchema.derive(from: Empty.self) == true)
    }

    struct Tree: Codable { var children: [Tree] }
    struct Chain: Codable {
        final class Box: Codable { var next: Chain? }
        var box: Box?
    }

    @Test("Recursive types are refused with the position")
    func recursion() {
        #expect {
            try JSONSchema.derive(from: Tree.self)
        } throws: { ($0 as? JSONSchemaError)?.path == "$.children[0]" }
        #expect {
            try JSONSchema.derive(from: Chain.self)
        } throws: { ($0 as? JSONSchemaError)?.path == "$.box.next" }
    }

    /// A type that refers to itself, each time with another parameter.
    struct Growing<T: Codable>: Codable {
        final class Box: Codable { var next: Growing<[T]>? }
        var box: Box?
    }

    @Test("Types that nest without end and without repetition are refused")
    func endless() {
        #expect {
            try JSONSchema.derive(from: Growing<Int>.self)
        } throws: { error in
            let error = error as? JSONSchemaError
            return error?.path.hasPrefix("$.box.next.box") == true && (error?.reason.count ?? .max) < 200
        }
    }

    @Test("The schema of an optional allows null, which is read as nil")
    func nullIsNil() throws {
        enum Kind: String, Codable, CaseIterable { case a }
        struct Options: Codable {
            var kind: Kind?
            var any: JSON?
            var twice: Int??
        }
        let options = try JSONCoding.decode(Options.self, from: ["kind": nil, "any": nil, "twice": nil])
        #expect(options.kind == nil && options.any == nil && options.twice == nil)
        #expect(
            try JSONSchema.derive(from: Options.self)["properties"] == [
                "kind": ["enum": ["a", nil]], "any": true, "twice": ["type": ["integer", "null"]],
            ])
    }

    @Test("The same type twice, side by side, is not a recursion")
    func twice() throws {
        struct Point: Codable { var x: Int }
        struct Line: Codable {
            var from: Point
            var to: Point
        }
        #expect(try JSONSchema.derive(from: Line.self)["required"] == ["from", "to"])
    }

    @Test("A type whose decoding cannot be recorded is refused")
    func byHand() {
        enum Unlisted: String, Codable { case a }
        struct Pair: Codable {
            init(from decoder: any Decoder) throws {
                var list = try decoder.unkeyedContainer()
                _ = try list.decode(Int.self)
            }
            func encode(to encoder: any Encoder) throws {}
        }
        struct Nested: Codable {
            enum Keys: CodingKey { case a }
            init(from decoder: any Decoder) throws {
                _ = try decoder.container(keyedBy: Keys.self).nestedContainer(keyedBy: Keys.self, forKey: .a)
            }
            func encode(to encoder: any Encoder) throws {}
        }
        enum Shape: Codable { case circle(radius: Double) }
        #expect(throws: JSONSchemaError.self) { try JSONSchema.derive(from: Unlisted.self) }
        #expect(throws: JSONSchemaError.self) { try JSONSchema.derive(from: [Pair].self) }
        #expect(throws: JSONSchemaError.self) { try JSONSchema.derive(from: Nested.self) }
        #expect(throws: JSONSchemaError.self) { try JSONSchema.derive(from: Shape.self) }
    }

    @Test("A type that tries members or a single value has the schema of the single value")
    func membersOrValue() throws {
        struct Members: Codable { var width: Int }
        struct Size: Decodable {
            var width: Int
            init(from decoder: any Decoder) throws {
                if let single = try? decoder.singleValueContainer().decode(Int.self) {
                    width = single
                } else {
                    width = try Members(from: decoder).width
                }
            }
        }
        struct Window: Decodable { var size: Size }
        #expect(
            try JSONSchema.derive(from: Window.self) == [
                "type": "object", "properties": ["size": ["type": "integer"]], "required": ["size"],
            ])
    }

    @Test("An enumeration whose first value is zero or empty lists its cases as well")
    func zeroValues() throws {
        enum Level: Int, Codable, CaseIterable { case none, some }
        enum Word: String, Codable, CaseIterable { case nothing = "", something }
        #expect(try JSONSchema.derive(from: Level.self) == ["enum": [0, 1]])
        #expect(try JSONSchema.derive(from: Word.self) == ["enum": ["", "something"]])
    }

    @Test("The schema of a type describes its encoded values")
    func consistency() throws {
        enum Kind: String, Codable, CaseIterable { case a, b }
        struct Value: Codable {
            var kind = Kind.b
            var list = [1, 2]
            var text: String?
            var map = ["k": 1.5]
        }
        let schema = try JSONSchema.derive(from: Value.self)
        for value in [Value(), Value(text: "t")] {
            let json = try JSONCoding.json(value)
            let properties = try #require(schema["properties"]?.objectValue)
            let keys = try #require(json.objectValue).keys
            #expect(keys.allSatisfy { properties[$0] != nil })
            #expect(schema["required"]?.arrayValue?.allSatisfy { keys.contains($0.stringValue ?? "") } == true)
        }
    }
}
