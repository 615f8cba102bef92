import BridgeJSON
import Testing

/// Every keyword of JSON Schema 2020-12, each with values that fit and values that do not.
@Suite("Keywords of JSON Schema")
struct SchemaKeywordTests {
    struct Vector: CustomTestStringConvertible {
        var schema: String
        var fits: [String]
        var misfits: [String]

        init(_ schema: String, fits: [String], misfits: [String]) {
            (self.schema, self.fits, self.misfits) = (schema, fits, misfits)
        }

        var testDescription: String { schema }
    }

    private func expect(_ vector: Vector) throws {
        let check = try SchemaCheck(try JSON(parsing: vector.schema))
        for value in vector.fits {
            #expect(check.misfit(value) == nil, "\(value) fits \(vector.schema)")
        }
        for value in vector.misfits {
            guard case .mismatch? = check.misfit(value) else {
                Issue.record("\(value) does not fit \(vector.schema)")
                continue
            }
        }
    }

    @Test("decide about values and numbers", arguments: valueVectors)
    func values(_ vector: Vector) throws { try expect(vector) }

    private static let valueVectors = [
        Vector(
            #"{"enum":[[0],{"a":1,"b":[true]},"x"]}"#,
            fits: ["[0.0]", "[0e9]", #"{"b":[true],"a":1.0}"#, #""\u0078""#],
            misfits: ["0", "[false]", #"{"a":1}"#, #"{"a":1,"b":[1]}"#, "[0,0]", #""X""#]),
        Vector(#"{"enum":[]}"#, fits: [], misfits: ["null", "0"]),
        Vector(#"{"const":{"a":-0}}"#, fits: [#"{"a":0}"#, #"{"a":-0.0e5}"#], misfits: [#"{"a":"0"}"#, "{}", "0"]),
        Vector(#"{"const":false}"#, fits: ["false"], misfits: ["0", "null", "[]"]),
        Vector(
            #"{"const":100000000000000000000000000000001}"#,
            fits: ["100000000000000000000000000000001.0", "1.00000000000000000000000000000001e32"],
            misfits: ["100000000000000000000000000000002", "1e32"]),
        Vector(
            #"{"minimum":-1.5}"#, fits: ["-1.5", "-15e-1", "0", "1e400", #""a""#],
            misfits: ["-1.50000000000000000001", "-2"]),
        Vector(#"{"exclusiveMaximum":1e-400}"#, fits: ["0", "9e-401", "-1"], misfits: ["1e-400", "10e-401", "1"]),
        Vector(#"{"multipleOf":0.01}"#, fits: ["0", "4.02", "1e300", "-0.07", "null"], misfits: ["4.025", "1e-3"]),
        Vector(
            #"{"multipleOf":7}"#, fits: ["70000000000000000000000000000", "49e10"], misfits: ["71e20", "3.5", "1e308"]),
        Vector(#"{"multipleOf":25e1}"#, fits: ["1000", "-250.0"], misfits: ["100", "25"]),
        Vector(#"{"type":"integer"}"#, fits: ["1e400", "12.50e1", "0.0"], misfits: ["1.5", "1e-1", "12.55e1"]),
        Vector(#"{"type":["null","array"]}"#, fits: ["null", "[1]"], misfits: ["0", "{}", "false"]),
        Vector(
            #"{"minLength":2,"maxLength":3}"#,
            fits: [#""äö""#, #""\ud834\udd1ea""#, #""abc""#, "1"], misfits: [#""a""#, #""\ud834\udd1e""#, #""abcd""#]),
        Vector(#"{"minLength":3,"maxLength":2}"#, fits: ["1"], misfits: [#""ab""#, #""abc""#]),
        Vector(
            #"{"format":"date","contentEncoding":"base64","title":7,"unknown":[1]}"#, fits: [#""x""#, "1"], misfits: []),
    ]

    @Test("decide about arrays", arguments: arrayVectors)
    func arrays(_ vector: Vector) throws { try expect(vector) }

    private static let arrayVectors = [
        Vector(#"{"minItems":1,"maxItems":2}"#, fits: ["[1]", "[1,2]", "{}"], misfits: ["[]", "[1,2,3]"]),
        Vector(#"{"contains":{"minimum":5}}"#, fits: ["[1,5]", "3"], misfits: ["[]", "[1,4]"]),
        Vector(
            #"{"contains":{"const":1},"minContains":2,"maxContains":3}"#,
            fits: ["[1,1]", "[1,0,1,1]"], misfits: ["[1]", "[1,1,1,1]", "[]"]),
        Vector(#"{"contains":{"const":1},"minContains":0}"#, fits: ["[]", "[2]"], misfits: []),
        Vector(#"{"contains":false,"minContains":0,"maxContains":0}"#, fits: ["[]", "[2]"], misfits: []),
        Vector(#"{"minContains":3,"maxContains":0}"#, fits: ["[]", "[2]"], misfits: []),
        Vector(
            #"{"uniqueItems":true}"#,
            fits: ["[]", "[1,true]", "[[1],[1,1]]", #"[{"a":1},{"a":2}]"#, #"["a","A"]"#, #"[0,false,null,"",[],{}]"#],
            misfits: ["[1,1.0]", "[1e2,3,100]", #"[{"a":1,"b":2},{"b":2.0,"a":1}]"#, #"["a","\u0061"]"#, "[[],0,[]]"]),
        Vector(
            #"{"prefixItems":[{"type":"string"}],"items":{"type":"integer"}}"#,
            fits: ["[]", #"["a"]"#, #"["a",1,2]"#], misfits: ["[1]", #"["a","b"]"#]),
        Vector(#"{"prefixItems":[true],"unevaluatedItems":false}"#, fits: ["[]", "[1]"], misfits: ["[1,2]"]),
        Vector(
            #"{"contains":{"type":"string"},"unevaluatedItems":{"type":"integer"}}"#,
            fits: [#"["a",1]"#, #"[1,"a","b"]"#], misfits: ["[1]", #"["a",null]"#]),
        Vector(
            #"{"anyOf":[{"prefixItems":[{"const":1}]},{"prefixItems":[true,{"const":2}]}],"unevaluatedItems":false}"#,
            fits: ["[1]", "[0]", "[0,2]", "[1,2]"], misfits: ["[1,3]", "[0,3]", "[0,2,3]"]),
        Vector(
            #"{"unevaluatedItems":false,"allOf":[{"items":{"type":"null"}}]}"#, fits: ["[null,null]"], misfits: ["[1]"]),
        Vector(#"{"unevaluatedItems":false,"not":{"not":{"prefixItems":[true]}}}"#, fits: ["[]"], misfits: ["[1]"]),
    ]

    @Test("decide about objects", arguments: objectVectors)
    func objects(_ vector: Vector) throws { try expect(vector) }

    private static let objectVectors = [
        Vector(
            #"{"minProperties":1,"maxProperties":1}"#, fits: [#"{"a":1}"#, #"{"a":1,"a":2}"#],
            misfits: ["{}", #"{"a":1,"b":1}"#]),
        Vector(
            #"{"properties":{"é":{"type":"integer"}}}"#,
            fits: [#"{"é":1}"#, #"{"e\u0301":"another key"}"#, "{}"], misfits: [#"{"é":"a"}"#, #"{"\u00e9":null}"#]),
        Vector(
            #"{"patternProperties":{"^x":{"type":"integer"},"y$":{"minimum":3}},"additionalProperties":false}"#,
            fits: [#"{"xy":3,"x":1}"#, "{}"], misfits: [#"{"xy":2}"#, #"{"x":null}"#, #"{"z":1}"#]),
        Vector(
            #"{"properties":{"a":true},"patternProperties":{"b":true},"additionalProperties":{"const":1}}"#,
            fits: [#"{"a":2,"ab":3,"c":1}"#], misfits: [#"{"c":2}"#]),
        Vector(
            #"{"propertyNames":{"maxLength":2,"pattern":"^a"}}"#, fits: [#"{"a":1,"ab":2}"#, "3"],
            misfits: [#"{"b":1}"#, #"{"abc":1}"#]),
        Vector(
            #"{"propertyNames":{"enum":["a","b"]}}"#, fits: [#"{"a":1,"b":2}"#],
            misfits: [#"{"a":1,"c":1}"#, #"{"c":1,"a":1}"#]),
        Vector(
            #"{"required":["a","b","a"]}"#, fits: [#"{"b":1,"a":null}"#, "[]"],
            misfits: [#"{"a":1}"#, #"{"a":1,"c":1}"#]),
        Vector(
            #"{"dependentRequired":{"a":["b","c"],"d":[]}}"#,
            fits: [#"{"b":1}"#, #"{"a":1,"b":1,"c":1}"#, #"{"d":1}"#], misfits: [#"{"a":1}"#, #"{"a":1,"b":1}"#]),
        Vector(
            #"{"dependentSchemas":{"a":{"maxProperties":1},"b":false}}"#,
            fits: [#"{"a":1}"#, #"{"c":1,"d":1}"#], misfits: [#"{"a":1,"c":1}"#, #"{"b":1}"#]),
        Vector(
            #"{"properties":{"a":true},"unevaluatedProperties":{"type":"integer"}}"#, fits: [#"{"a":"","b":1}"#],
            misfits: [#"{"b":""}"#]),
        Vector(
            #"{"if":{"properties":{"a":{"const":1}},"required":["a"]},"then":{"properties":{"b":true}},"else":{"properties":{"c":true}},"unevaluatedProperties":false}"#,
            fits: [#"{"a":1,"b":2}"#, #"{"c":1}"#, "{}"], misfits: [#"{"a":1,"c":2}"#, #"{"a":2}"#, #"{"b":1}"#]),
        Vector(
            #"{"dependentSchemas":{"a":{"properties":{"a":true,"b":true}}},"unevaluatedProperties":false}"#,
            fits: [#"{"a":1,"b":1}"#], misfits: [#"{"b":1}"#, #"{"a":1,"c":1}"#]),
        Vector(
            #"{"allOf":[{"properties":{"a":true},"unevaluatedProperties":false}],"properties":{"b":true}}"#,
            fits: [#"{"a":1}"#], misfits: [#"{"a":1,"b":1}"#]),
        Vector(
            #"{"oneOf":[{"properties":{"a":{"const":1}},"required":["a"]},{"properties":{"b":true},"required":["b"]}],"unevaluatedProperties":false}"#,
            fits: [#"{"a":1}"#, #"{"b":1}"#], misfits: [#"{"a":1,"b":1}"#, #"{"a":2,"b":1}"#, #"{"a":1,"c":1}"#]),
    ]

    @Test("decide about combinations", arguments: combinationVectors)
    func combinations(_ vector: Vector) throws { try expect(vector) }

    private static let combinationVectors = [
        Vector(
            #"{"if":{"type":"integer"},"then":{"minimum":3},"else":{"type":"string"}}"#,
            fits: ["3", #""a""#], misfits: ["2", "null"]),
        Vector(#"{"if":{"const":1}}"#, fits: ["1", "2"], misfits: []),
        Vector(#"{"then":false,"else":false}"#, fits: ["1"], misfits: []),
        Vector(#"{"not":{"not":{"type":"null"}}}"#, fits: ["null"], misfits: ["1"]),
        Vector(#"{"oneOf":[{"minimum":1},{"maximum":3}]}"#, fits: ["0", "4"], misfits: ["2", #""a""#]),
        Vector(
            #"{"anyOf":[{"type":"null"},{"minimum":3,"type":"number"}],"allOf":[{"not":{"const":4}}]}"#,
            fits: ["null", "3"], misfits: ["2", "4", "{}"]),
    ]

    @Test(
        "report a mismatch with its path",
        arguments: [
            (#"{"contains":{"type":"string"}}"#, "[1]", "$: an array in which at least 1 elements are a string, not 0"),
            (
                #"{"uniqueItems":true}"#, "[1,2,1]",
                "$[2]: an element that differs from all others, not number 1, equal to element 0"
            ),
            (
                #"{"properties":{"a":{"pattern":"^x"}}}"#, #"{"a":"y"}"#,
                #"$.a: a string with the pattern "^x", not string "y""#
            ),
            (#"{"multipleOf":3}"#, "4", "$: a multiple of 3, not number 4"),
            (
                #"{"propertyNames":{"maxLength":1}}"#, #"{"ab":1}"#,
                #"$.ab: a name that is a string of at most 1 characters, not string "ab""#
            ),
            (#"{"dependentRequired":{"a":["b"]}}"#, #"{"a":1}"#, #"$.b: a value, because of the member "a", not none"#),
            (
                #"{"properties":{"a":true},"unevaluatedProperties":false}"#, #"{"b":1}"#,
                "$.b: no other member, not an unknown key"
            ),
            (#"{"if":true,"then":{"items":{"type":"null"}}}"#, "[null,1]", "$[1]: null, not number 1"),
            (
                #"{"patternProperties":{"^a":true},"additionalProperties":false}"#, #"{"b":1}"#,
                #"$.b: a key with the pattern "^a", not an unknown key"#
            ),
        ])
    func message(schema: String, value: String, message: String) throws {
        guard case .mismatch(let mismatch)? = try SchemaCheck(try JSON(parsing: schema)).misfit(value) else {
            Issue.record("it fits")
            return
        }
        #expect("\(mismatch.path): \(mismatch.expected), not \(mismatch.got)" == message)
    }
}
