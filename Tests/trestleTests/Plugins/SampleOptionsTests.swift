import BridgeJSON
import Testing

@testable import trestle

private let disk: JSON = [
    "type": "object", "required": ["path", "depth"], "additionalProperties": false,
    "properties": [
        "path": ["type": "string", "minLength": 8, "maxLength": 20],
        "depth": ["type": "integer", "minimum": 3, "maximum": 5],
        "kind": ["enum": ["a", "b"]],
    ],
]

/// Schemas, and the options that are made from them.
private let fitting: [(schema: JSON, value: JSON)] = [
    (true, [:]), (["type": "string"], "sample"), (["type": "string", "maxLength": 3], "sam"),
    (disk, ["path": "samplexx", "depth": 3]),
    (["type": "array", "minItems": 2, "items": ["type": "boolean"]], [false, false]),
    (["type": ["integer", "null"], "exclusiveMinimum": 7], 8), (["maximum": -4, "type": "number"], -4),
    (["const": ["x": 1]], ["x": 1]), (["anyOf": [["type": "null"], ["type": "string"]]], nil),
    (["$ref": "#/$defs/name", "$defs": ["name": ["type": "string"]]], "sample"),
    (["type": "object", "required": ["a"], "properties": ["a": ["default": 5]]], ["a": 5]),
]

/// Schemas that require more than types and bounds.
private let opaque: [JSON] = [
    ["type": "string", "pattern": "^[0-9]{5}$"], ["not": [:]], false,
    [
        "$ref": "#/$defs/a",
        "$defs": ["a": ["type": "object", "required": ["a"], "properties": ["a": ["$ref": "#/$defs/a"]]]],
    ],
]

@Suite("Options made from a schema")
struct SampleOptionsTests {
    @Test("are allowed by the schema", arguments: fitting.indices)
    func allowed(_ index: Int) throws {
        let (schema, value) = fitting[index]
        #expect(try SampleOptions(schema).allowed == value, "\(schema)")
    }

    @Test("are not made if a schema requires more than types and bounds", arguments: opaque)
    func none(_ schema: JSON) throws {
        #expect(try SampleOptions(schema).allowed == nil)
    }

    @Test("that are wrong violate each rule of the schema, and the violation has a path")
    func forbidden() throws {
        let wrong = try SampleOptions(disk).forbidden(isSubtle: true).map(\.value)
        for value: JSON in [
            nil, "text", [:], ["path": "samplexx"], ["path": 12, "depth": 3], ["path": "", "depth": 3],
            ["path": "samplexx", "depth": 2], ["path": "samplexx", "depth": 6], ["path": "samplexx", "depth": 1.5],
            ["path": "xxxxxxxxxxxxxxxxxxxxx", "depth": 3], ["path": "samplexx", "depth": 3, "kind": 12],
            ["path": "samplexx", "depth": 3, "unexpected": 1],
        ] {
            #expect(wrong.contains(value), "\(value)")
        }
        guard case .mismatch(let mismatch)? = try SampleOptions(disk).misfit(["path": "samplexx"]) else {
            Issue.record("it is allowed")
            return
        }
        #expect(mismatch.path == "$.depth")
    }

    @Test("that a lenient task might accept are not among the gross mistakes")
    func gross() throws {
        let sampler = try SampleOptions(disk)
        let gross = sampler.forbidden(isSubtle: false).map(\.value)
        #expect(gross.contains([:]) && gross.contains(["path": 12, "depth": 3]))
        for value: JSON in [["path": "samplexx", "depth": 6], ["path": "samplexx", "depth": 3, "unexpected": 1]] {
            #expect(!gross.contains(value), "\(value)")
        }
    }

    @Test("A null for an optional member is not a wrong option")
    func null() throws {
        let schema: JSON = ["type": "object", "properties": ["a": ["type": "string"]]]
        #expect(try !SampleOptions(schema).forbidden(isSubtle: true).map(\.value).contains(["a": nil]))
    }

    @Test("No option is wrong if the schema allows anything")
    func anything() throws {
        #expect(try SampleOptions(true).forbidden(isSubtle: true).isEmpty)
    }

    @Test("An invalid schema is an error")
    func noSchema() {
        #expect(throws: JSONSchemaError.self) { try SampleOptions(["type": "strin"]) }
    }
}
