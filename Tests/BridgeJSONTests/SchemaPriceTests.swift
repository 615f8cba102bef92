import BridgeJSON
import TestSupport
import Testing

/// The limits of a schema: its memory when it is read, and the steps of each check.
@Suite("The cost of schemas")
struct SchemaPriceTests {
    /// Returns this number of elements, separated by commas.
    private func list(_ count: Int, _ element: (Int) -> String) -> String {
        (0..<count).map(element).joined(separator: ",")
    }

    private func check(_ schema: String) throws -> SchemaCheck { try SchemaCheck(try JSON(parsing: schema)) }

    private func isTooMuch(_ misfit: SchemaMisfit?) -> Bool {
        if case .tooMuch? = misfit { true } else { false }
    }

    @Test("A check of many alternatives for many elements ends, and accepts nothing")
    func alternatives() throws {
        let check = try check(#"{"items":{"anyOf":[\#(list(3_000) { #"{"enum":[\#($0)]}"# })]}}"#)
        #expect(isTooMuch(check.misfit("[\(list(200_000) { _ in "2999" })]")))
        #expect(check.misfit("[2999,0]") == nil)
        // A value is hashed once, for any number of lists of constants that it is compared with.
        let whole = try self.check(#"{"anyOf":[\#(list(3_000) { #"{"enum":[[\#($0)]]}"# })]}"#)
        #expect(isTooMuch(whole.misfit("[\(list(200_000) { _ in "0" })]")))
        guard case .mismatch? = whole.misfit("[\(list(13_000) { _ in "0" })]") else {
            Issue.record("it was not checked whole")
            return
        }
    }

    @Test("The members of the value are looked up in the schema, not the reverse")
    func members() throws {
        let check = try check(#"{"items":{"properties":{\#(list(5_000) { #""p\#($0)":{"type":"null"}"# })}}}"#)
        // This takes a tenth of the budget. The reverse lookup would take 5,000 times as much.
        #expect(check.misfit("[\(list(15_000) { _ in "{}" })]") == nil)
        #expect(isTooMuch(check.misfit("[\(list(300_000) { _ in "{}" })]")))
        #expect(check.misfit(#"[{"p4999":null,"p0":null,"q":1}]"#) == nil)
        #expect(check.misfit(#"[{"p4999":1}]"#)?.description.contains("$[0].p4999") == true)
    }

    @Test("A check ends before it counts a long string thousands of times")
    func lengths() throws {
        let check = try check(#"{"allOf":[\#(list(2_500) { #"{"maxLength":\#(500_000 + $0)}"# })]}"#)
        #expect(isTooMuch(check.misfit("\"" + String(repeating: "é", count: 499_999) + "\"")))
        #expect(check.misfit("\"" + String(repeating: "é", count: 1_000) + "\"") == nil)
    }

    @Test("Each test whether a long number is an integer is charged")
    func integers() throws {
        let check = try check(#"{"not":{"anyOf":[\#(list(2_000) { _ in #"{"type":"integer"}"# })]}}"#)
        #expect(isTooMuch(check.misfit("1.5" + String(repeating: "0", count: 60_000))))
        #expect(check.misfit("1.5") == nil)
        #expect(check.misfit("7" + String(repeating: "0", count: 60_000)) != nil)
    }

    @Test(
        "Every repeated rule is charged",
        arguments: [
            (#""uniqueItems":true"#, "[WIDE]"), (#""items":{"title":"x"}"#, "[WIDE]"),
            (#""contains":{"const":"y"}"#, "[WIDE]"), (#""unevaluatedItems":{"type":"integer"}"#, "[WIDE]"),
            (##""$ref":"#/$defs/integers""##, "[WIDE]"), (#""propertyNames":{"maxLength":9}"#, "{KEYS}"),
            (#""additionalProperties":{"type":"integer"}"#, "{KEYS}"), (#""unevaluatedProperties":true"#, "{KEYS}"),
            (#""dependentSchemas":{"k0":{"additionalProperties":{"type":"integer"}}}"#, "{KEYS}"),
            (#""multipleOf":7"#, "NUMBER"), (#""minimum":7"#, "NUMBER"), (#""pattern":"z$""#, #""LONGz""#),
            (#""minLength":30000"#, #""LONG""#),
        ])
    func multiplied(rule: String, value: String) throws {
        let rules = list(500) { _ in "{\(rule)}" }
        let integers = #"{"items":{"type":"integer"}}"#
        let check = try check(#"{"$defs":{"integers":\#(integers)},"oneOf":[{"not":{"allOf":[\#(rules)]}},true]}"#)
        let long = value.replacing("WIDE", with: list(8_000) { "\($0)" })
            .replacing("KEYS", with: list(4_000) { #""k\#($0)":1"# })
            .replacing("LONG", with: String(repeating: "é", count: 31_000))
            .replacing("NUMBER", with: "7" + String(repeating: "0", count: 60_000))
        // In `allOf` the first rule that does not fit decides. For rules of which none fits, `anyOf` checks each.
        let each = try self.check(#"{"$defs":{"integers":\#(integers)},"not":{"anyOf":[\#(rules)]}}"#)
        #expect(isTooMuch(check.misfit(long)) || isTooMuch(each.misfit(long)))
    }

    @Test("Ordinary schemas check values of 64 KiB completely")
    func ordinary() throws {
        let check = try check(
            ##"""
            {"type":"object","required":["rows"],"additionalProperties":false,"properties":{"rows":{"type":"array",
             "uniqueItems":true,"items":{"type":"object","required":["id","name"],"properties":{
              "id":{"type":"integer","minimum":0},"name":{"type":"string","minLength":1,"maxLength":64,"pattern":"^[a-z0-9_]+$"},
              "kind":{"enum":["cat","dog",null]},"place":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/point"}]}},
              "additionalProperties":false}}},
             "$defs":{"point":{"type":"object","properties":{"x":{"type":"number"},"y":{"type":"number"}}}}}
            """##)
        let rows = list(920) { #"{"id":\#($0),"name":"row_\#($0)","kind":"dog","place":{"x":1.5,"y":\#($0)}}"# }
        let value = #"{"rows":[\#(rows)]}"#
        #expect(value.utf8.count > 60_000)
        #expect(check.misfit(value) == nil)
    }

    @Test("The nesting of schemas in a check is limited")
    func nesting() throws {
        let definitions = list(1_000) { ##""d\##($0)":{"$ref":"#/$defs/d\##($0 + 1)"}"## }
        let chain = try check(##"{"$ref":"#/$defs/d0","$defs":{\##(definitions),"d1000":{"type":"null"}}}"##)
        #expect(isTooMuch(chain.misfit("null")))
        let choices = list(1_000) { ##""d\##($0)":{"anyOf":[{"allOf":[{"$ref":"#/$defs/d\##($0 + 1)"}]}]}"## }
        let alternatives = try check(##"{"$ref":"#/$defs/d0","$defs":{\##(choices),"d1000":{"type":"null"}}}"##)
        #expect(isTooMuch(alternatives.misfit("null")))
        // The maximum depth of a value is allowed.
        let tree = try check(##"{"items":{"$ref":"#"},"additionalProperties":{"$ref":"#"}}"##)
        let deep = String(repeating: "[", count: 127) + "1" + String(repeating: "]", count: 127)
        #expect(tree.misfit(deep) == nil)
    }

    @Test("A number whose exponent is out of range is refused, not guessed")
    func exponents() throws {
        #expect(isTooMuch(try check(#"{"minimum":3}"#).misfit("1e9999999999999999")))
        #expect(try check(#"{"minimum":3}"#).misfit("1e999999999999999") == nil)
        #expect(try check(#"{"minimum":0}"#).misfit("0e9999999999999999") == nil)
        #expect(throws: JSONSchemaError.self) { try check(#"{"const":[1e9999999999999999]}"#) }
        #expect(throws: JSONSchemaError.self) { try check(#"{"multipleOf":1.2345678901234567891}"#) }
    }

    @Test(
        "A schema of 64 KiB takes at most eight times its text in memory",
        arguments: [
            (#""properties":{"#, #""p#":{}"#, "}"), (#""properties":{"#, #""p#":{"type":"null"}"#, "}"),
            (#""enum":["#, "@", "]"), (#""enum":["#, "[@]", "]"), (#""enum":["#, #""@""#, "]"),
            (#""allOf":["#, #"{"enum":[@]}"#, "]"), (#""allOf":["#, #"{"const":@}"#, "]"),
            (#""allOf":["#, #"{"required":["@"]}"#, "]"), (#""allOf":["#, #"{"not":{}}"#, "]"),
            (#""allOf":["#, #"{"if":{}}"#, "]"), (#""allOf":["#, #"{"minimum":0}"#, "]"),
            (#""allOf":["#, #"{"contains":{}}"#, "]"), (#""allOf":["#, #"{"items":{"not":{}}}"#, "]"),
            (#""allOf":["#, #"{"additionalProperties":{}}"#, "]"), (#""allOf":["#, #"{"pattern":"a"}"#, "]"),
            (#""required":["#, #""@""#, "]"), (#""dependentRequired":{"#, #""@":["a"]"#, "}"),
            (#""dependentSchemas":{"#, #""@":{"not":{}}"#, "}"), (#""$defs":{"#, #""@":{"$anchor":"a@"}"#, "}"),
            (#""$defs":{"#, #""@":{"$id":"@"}"#, "}"), (#""unknown":["#, "@", "]"),
            (
                ##""$dynamicAnchor":"n","items":{"$dynamicRef":"#n"},"$defs":{"##,
                ##""@":{"$id":"@","$dynamicAnchor":"n"}"##, "}"
            ),
        ])
    func memory(open: String, element: String, close: String) throws {
        let count = 60_000 / (element.count + 4)
        let text = "{\(open)\(list(count) { element.replacing("@", with: "\($0)") })\(close)}"
        let schema = try check(text)
        #expect(schema.byteCount <= 8 * text.utf8.count, "\(schema.byteCount) of \(text.utf8.count)")
    }

    @Test("Describing many constants takes less time than reading the schema")
    func words() throws {
        let references = list(20) { _ in ##"{"$ref":"#/$defs/c"}"## }
        let schema = try JSON(
            parsing: ##"{"anyOf":[\##(references)],"$defs":{"c":{"enum":[\##(list(8_000) { "\($0)" })]}}}"##)
        let check = try SchemaCheck(schema)
        #expect(try cpuTime { _ = check.misfit("-1") } / cpuTime { _ = try SchemaCheck(schema) } < 1)
        let words = try #require(check.misfit("-1")).description
        #expect(words.contains("one of: 0, 1, 2, 3"))
        #expect(words.contains("18, 19, …; got"))
    }

    @Test(
        "The description of what a schema expects has a maximum length",
        arguments: [
            #"{"anyOf":[@{"enum":["~$","$"]}@]}"#, #"{"anyOf":[@{"pattern":"~$"}@]}"#, #"{"const":"$"}"#,
            #"{"enum":[@"~$"@]}"#, #"{"anyOf":[@{"anyOf":[{"const":"~$"},{"const":"$"}]}@]}"#,
            #"{"propertyNames":{"enum":["$","1$"]}}"#, #"{"properties":{@"~$":{}@},"additionalProperties":false}"#,
            #"{"patternProperties":{@"~$":{}@},"additionalProperties":false}"#,
        ])
    func length(_ form: String) throws {
        // The source of a pattern has a maximum length of its own.
        let long = String(repeating: "e\u{301}\u{2003}", count: form.contains("attern") ? 40 : 1_000)
        var parts = form.split(separator: "@", omittingEmptySubsequences: false).map(String.init)
        if parts.count == 3 { parts[1] = list(20) { parts[1].replacing("~", with: "\($0)") } }
        let check = try check(parts.joined().replacing("$", with: long))
        guard case .mismatch(let mismatch)? = check.misfit(form.contains("rop") ? #"{"x":1}"# : #""x""#) else {
            Issue.record("the value fits")
            return
        }
        #expect(mismatch.expected.utf8.count <= 4_000 && mismatch.expected.contains("…"))
    }

    @Test("The paths of references are built only for errors")
    func paths() throws {
        func time(_ key: String) throws -> Double {
            let references = list(2_000) { _ in ##"{"$ref":"#"}"## }
            let schema = try JSON(parsing: #"{"properties":{"\#(key)":{"prefixItems":[\#(references)]}}}"#)
            return try cpuTime { _ = try SchemaCheck(schema) }
        }
        #expect(try time(String(repeating: "k", count: 30_000)) / time("k") < 3)
    }

    @Test("A schema that takes too long to read is refused")
    func reading() throws {
        let far =
            ##"{"$defs":{\##(list(1_000) { ##""d\##($0)":{"$ref":"#/a/14999"}"## })},"a":[\##(list(15_000) { _ in "{}" })]}"##
        #expect(throws: JSONSchemaError.self) { try check(far) }
    }

    @Test("Long keys with escapes cost a search no more than keys without")
    func escapedKeys() throws {
        // Between the two names, which are looked up in turn, are as many keys as are searched one by one.
        func time(_ letter: String) throws -> Double {
            let keys = list(14) { #""\#($0)\#(String(repeating: letter, count: 2_400 / letter.count))":0"# }
            let references = list(1_000) { ##"{"$ref":"#/\##($0 % 2 == 0 ? "b" : "c")"}"## }
            let schema = try JSON(parsing: #"{"b":{},\#(keys),"c":{},"prefixItems":[\#(references)]}"#)
            return try cpuTime { _ = try SchemaCheck(schema) }
        }
        // The escapes in the schema's text are resolved before.
        #expect(try time(#"\n"#) / time("a") < 3)
    }

    @Test("A name that occurs twice in a list of required names is refused")
    func namedTwice() throws {
        #expect {
            try check(#"{"dependentRequired":{"k":["a","b","\u0061"]}}"#)
        } throws: {
            "\($0)".contains("$.dependentRequired.k: the name \"a\" occurs twice")
        }
    }

    @Test("Escapes in keys are resolved")
    func escapes() throws {
        // Two compositions of one letter are two names.
        let check = try check(#"{"dependentRequired":{"k":["\u00e9","e\u0301"]}}"#)
        #expect(check.misfit(#"{"k":1,"\u00E9":1,"\u0065\u0301":1}"#) == nil)
        #expect(check.misfit(#"{"\u006b":1,"\u00e9":1}"#) != nil)
        #expect(check.misfit(#"{"k":1,"\u00e9\u0000":1,"\u0065\u0301":1}"#) != nil)
        let other = try self.check(#"{"dependentRequired":{"k":["","\ud834\udd1e/\n"]}}"#)
        #expect(other.misfit(#"{"k":1,"":1,"\uD834\uDD1E\/\u000a":1}"#) == nil)
        #expect(other.misfit(#"{"k":1,"\u0000":1,"\uD834\uDD1E\/\n":1}"#) != nil)
        #expect(other.misfit(#"{"k":1,"":1,"\uD834\uDD1E\/\t":1}"#) != nil)
    }
}
