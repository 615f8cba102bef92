import BridgeJSON
import TestSupport
import Testing

@Suite("Properties of schema checks")
struct SchemaPropertyTests {
    private static let seed: UInt64 = 18_2020_12

    @Test("Equivalent schemas and rewritten values give the same result")
    func equivalent() throws {
        var generator = SeededGenerator(seed: Self.seed)
        for _ in 0..<1_500 {
            let schema = generator.schema(depth: 3)
            let check = try SchemaCheck(schema)
            let others = try [
                ["allOf": [schema, schema]], ["anyOf": [false, schema]], ["oneOf": [schema, false]],
                ["not": ["not": schema]], ["if": schema, "else": false], ["$ref": "#/$defs/s", "$defs": ["s": schema]],
            ].map { try SchemaCheck($0) }
            for _ in 0..<4 {
                let value = generator.value(depth: 3)
                let fits = check.misfit(value.bytes) == nil
                for other in others {
                    #expect((other.misfit(value.bytes) == nil) == fits, "\(schema.text) \(value.text)")
                }
                #expect((check.misfit(generator.rewritten(value)) == nil) == fits, "\(schema.text) \(value.text)")
            }
        }
    }

    @Test("A constant or a list of constants accepts exactly the equal values")
    func constants() throws {
        var generator = SeededGenerator(seed: Self.seed + 1)
        for _ in 0..<1_000 {
            let (one, other) = (generator.value(depth: 3), generator.value(depth: 3))
            let check = try SchemaCheck(["enum": [one, [other]]])
            #expect(check.misfit(generator.rewritten(one)) == nil)
            #expect(check.misfit(generator.rewritten([other])) == nil)
            #expect(check.misfit(JSON.array([one, other]).bytes) != nil || one == [one, other])
            let unique = try SchemaCheck(["uniqueItems": true])
            let twice = "[\(other.text),\(String(decoding: generator.rewritten(one), as: UTF8.self)),[],\(one.text)]"
            #expect(unique.misfit(twice) != nil)
        }
    }

    @Test("Mutated schemas and values never trap")
    func mutated() throws {
        let schemas = [
            ##"""
            {"type":["object","null"],"properties":{"a":{"$ref":"#/$defs/b"},"c":{"enum":[1,"x"]}},"required":["a"],
            "$defs":{"b":{"anyOf":[{"type":"string","maxLength":3,"pattern":"^x"},{"items":{"$ref":"#"},"minItems":1}]}}}
            """##,
            ##"""
            {"$id":"http://h/a","$dynamicAnchor":"n","unevaluatedProperties":false,"dependentRequired":{"a":["b"]},
            "patternProperties":{"a|b":{"$dynamicRef":"#n"}},"if":{"minProperties":1},"then":{"propertyNames":{"const":"a"}},
            "$defs":{"x":{"$id":"b","$anchor":"m","uniqueItems":true,"contains":{"multipleOf":0.5},"minContains":2}}}
            """##,
        ]
        let values = [#"{"a":"xyz"}"#, #"{"a":[{"a":"z"}],"c":1,"b":[]}"#, "[[1],1.50,1.5]", "null", "nonsense"]
        var generator = SeededGenerator(seed: Self.seed + 2)
        for round in 0..<4_000 {
            let text = generator.mutate(Array(schemas[round % schemas.count].utf8))
            guard let broken = try? JSON(parsing: text), let check = try? SchemaCheck(broken) else { continue }
            for value in values { _ = check.misfit(generator.mutate(Array(value.utf8))) }
        }
    }
}

extension SeededGenerator {
    private mutating func pick<T>(_ choices: [T]) -> T { choices[Int.random(in: 0..<choices.count, using: &self)] }

    /// Returns a value of few names and numbers, so that schemas often apply to it.
    fileprivate mutating func value(depth: Int) -> JSON {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 5), using: &self) {
        case 0: return pick([.null, true, false])
        case 1, 2: return .number(JSONNumber(Int.random(in: -2...4, using: &self)))
        case 3: return pick([1.5, 2.5e3, -0.25])
        case 4: return .string(pick(["", "a", "ab", "é", "𝄞x", "\""]))
        case 5, 6:
            var object = JSONObject()
            for _ in 0..<Int.random(in: 0...3, using: &self) {
                object[pick(["a", "b", "ab", "é"])] = value(depth: depth - 1)
            }
            return .object(object)
        default: return .array((0..<Int.random(in: 0...4, using: &self)).map { _ in value(depth: depth - 1) })
        }
    }

    /// Returns the same value with members in another order, and numbers and characters in other forms.
    fileprivate mutating func rewritten(_ value: JSON) -> [UInt8] { Array(rewrite(value).utf8) }

    private mutating func rewrite(_ value: JSON) -> String {
        switch value {
        case .number(let number):
            let fraction = number.text.utf8.contains(UInt8(ascii: ".")) ? "0" : ".00"
            return number.text + pick(["", fraction, fraction + "e0", "E+0"])
        case .string(let text):
            let scalars = text.unicodeScalars.map { scalar in
                scalar == "a"
                    ? pick(["a", #"\u0061"#]) : String(JSON.string(String(scalar)).text.dropFirst().dropLast())
            }
            return "\"\(scalars.joined())\""
        case .array(let elements): return "[\(elements.map { rewrite($0) }.joined(separator: " , "))]"
        case .object(let object):
            var members = object.map { (key, value) in "\(rewrite(.string(key))):\(rewrite(value))" }
            members.shuffle(using: &self)
            return "{\(members.joined(separator: ","))}"
        default: return value.text
        }
    }

    /// Returns a random schema of all keywords.
    fileprivate mutating func schema(depth: Int) -> JSON {
        if depth == 0 || Int.random(in: 0..<12, using: &self) == 0 {
            return pick([true, false, ["type": "integer"], [:]])
        }
        var schema = JSONObject()
        func count(_ generator: inout Self) -> JSON { .number(JSONNumber(Int.random(in: 0...3, using: &generator))) }
        func list(_ generator: inout Self) -> JSON {
            .array((0..<Int.random(in: 1...3, using: &generator)).map { _ in generator.schema(depth: depth - 1) })
        }
        func table(_ generator: inout Self, _ keys: [String]) -> JSON {
            var table = JSONObject()
            for _ in 0..<2 { table[generator.pick(keys)] = generator.schema(depth: depth - 1) }
            return .object(table)
        }
        for _ in 0..<Int.random(in: 1...4, using: &self) {
            let keyword = pick(Self.keywords)
            switch keyword {
            case "type":
                schema[keyword] = pick(["integer", "number", "string", "object", ["array", "null", "boolean"]])
            case "enum": schema[keyword] = [value(depth: 1), value(depth: 2), 1]
            case "const": schema[keyword] = value(depth: 2)
            case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
                schema[keyword] = pick([0, 1.5, -1, 2500])
            case "multipleOf": schema[keyword] = pick([2, 0.5, 0.25])
            case "pattern": schema[keyword] = pick(["^a", "b$", "^[^a]*$", "."])
            case "uniqueItems": schema[keyword] = true
            case "required": schema[keyword] = pick([["a"], ["a", "b"]])
            case "dependentRequired": schema[keyword] = ["a": ["b"], "é": ["a", "ab"]]
            case "properties", "dependentSchemas": schema[keyword] = table(&self, ["a", "b", "é"])
            case "patternProperties": schema[keyword] = table(&self, ["^a", "b$"])
            case "allOf", "anyOf", "oneOf", "prefixItems": schema[keyword] = list(&self)
            case _ where keyword.hasPrefix("min") || keyword.hasPrefix("max"): schema[keyword] = count(&self)
            default: schema[keyword] = self.schema(depth: depth - 1)
            }
        }
        return .object(schema)
    }

    private static let keywords = [
        "type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
        "minLength",
        "maxLength", "pattern", "minItems", "maxItems", "uniqueItems", "prefixItems", "items", "contains",
        "minContains",
        "maxContains", "minProperties", "maxProperties", "required", "properties", "patternProperties",
        "additionalProperties", "propertyNames", "dependentRequired", "dependentSchemas", "allOf", "anyOf", "oneOf",
        "not",
        "if", "then", "else", "unevaluatedItems", "unevaluatedProperties",
    ]
}
