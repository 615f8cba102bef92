import BridgeJSON
import Testing

@Suite("References between schemas of one document")
struct SchemaReferenceTests {
    private func fits(_ schema: String, _ value: String) throws -> Bool {
        try SchemaCheck(try JSON(parsing: schema)).misfit(value) == nil
    }

    private func refusal(_ schema: String) throws -> String {
        let json = try JSON(parsing: schema)
        do throws(JSONSchemaError) {
            _ = try SchemaCheck(json)
            return "taken"
        } catch {
            return error.description
        }
    }

    @Test(
        "A schema is found by pointer, anchor, name and relative name",
        arguments: [
            ##"{"$ref":"#/$defs/a%25b","$defs":{"a%b":{"type":"null"}}}"##,
            ##"{"$ref":"#n","$defs":{"a":{"$anchor":"n","type":"null"}}}"##,
            ##"{"$ref":"#n","$defs":{"a":{"$dynamicAnchor":"n","type":"null"}}}"##,
            ##"{"$id":"http://h/x/y","$ref":"z","$defs":{"a":{"$id":"/x/z","type":"null"}}}"##,
            ##"{"$id":"http://h/x/y","$ref":"../q?a#n","$defs":{"a":{"$id":"//h/q?a","$defs":{"b":{"$anchor":"n","type":"null"}}}}}"##,
            ##"{"$id":"urn:x:y","$ref":"urn:x:z#/$defs/k","$defs":{"a":{"$id":"urn:x:z","$defs":{"k":{"type":"null"}}}}}"##,
            ##"{"$ref":"item","$defs":{"a":{"$id":"item","$ref":"#/$defs/k","$defs":{"k":{"type":"null"}}}}}"##,
            ##"{"$ref":"#/x/0/y","x":[{"y":{"type":"null"}}]}"##,
            ##"{"$ref":"#/$defs/a/properties/b","$defs":{"a":{"$id":"a","properties":{"b":{"$ref":"#k"}},"$defs":{"c":{"$anchor":"k","type":"null"}}}}}"##,
        ])
    func found(schema: String) throws {
        #expect(try fits(schema, "null"))
        #expect(try !fits(schema, "1"))
    }

    @Test("Names are compared by their bytes")
    func bytes() throws {
        let spellings =
            ##"{"$ref":"e\##u{301}","$defs":{"a":{"$id":"\##u{E9}","type":"string"},"b":{"$id":"e\##u{301}","type":"null"}}}"##
        #expect(try fits(spellings, "null"))
        #expect(try !fits(spellings, #""x""#))
        // A mark after a slash or a tilde is part of a key.
        for (key, written) in [("\u{301}a", "\u{301}a"), ("~\u{301}", "~0\u{301}"), ("/\u{301}", "~1\u{301}")] {
            let marked = ##"{"$ref":"#/$defs/\##(written)","$defs":{"\##(key)":{"type":"null"}}}"##
            #expect(try fits(marked, "null") && !fits(marked, "1"))
        }
        let folders = ##"{"$id":"http://h/x/\##u{301}/y","$ref":"../z","$defs":{"a":{"$id":"/x/z","type":"null"}}}"##
        #expect(try fits(folders, "null") && !fits(folders, "1"))
        // The kelvin sign is not the letter K.
        let kelvin = ##"{"$ref":"#\##u{212A}","$defs":{"a":{"$anchor":"K"}}}"##
        #expect(try refusal(kelvin).contains("there is no #"))
    }

    @Test("Keywords beside a reference apply as well, and a constant defines no names")
    func beside() throws {
        #expect(try !fits(##"{"$ref":"#/$defs/a","maximum":3,"$defs":{"a":{"type":"integer"}}}"##, "4"))
        let constant = ##"{"const":{"$id":"k","$anchor":"n"},"$defs":{"a":{"$anchor":"n"}},"$ref":"#n"}"##
        #expect(try fits(constant, ##"{"$id":"k","$anchor":"n"}"##))
    }

    @Test("A dynamic reference leads to the outermost schema with the anchor")
    func dynamic() throws {
        let tree = ##"""
            {"$id":"strict","$dynamicAnchor":"node","$ref":"tree","unevaluatedProperties":false,
             "$defs":{"t":{"$id":"tree","$dynamicAnchor":"node","type":"object",
              "properties":{"data":true,"children":{"items":{"$dynamicRef":"#node"}}}}}}
            """##
        #expect(try fits(tree, #"{"children":[{"data":1}]}"#))
        #expect(try !fits(tree, #"{"children":[{"daat":1}]}"#))
        // Without a dynamic anchor at its first target, it is an ordinary reference.
        let plain = ##"""
            {"$id":"outer","$dynamicAnchor":"n","type":["array","null"],"$ref":"inner","$defs":{"i":{"$id":"inner",
             "items":{"$dynamicRef":"#n"},"$defs":{"k":{"$anchor":"n","type":"integer"}}}}}
            """##
        #expect(try fits(plain, "[1]"))
        #expect(try !fits(plain, "[null]"))
    }

    @Test(
        "Unresolvable references and duplicate names are refused with a reason",
        arguments: [
            (##"{"$ref":"http://h/x.json"}"##, "http://h/x.json is not part of it"),
            (##"{"$id":"http://h/a/","items":{"$ref":"x.json"}}"##, "$.items.$ref: only schemas of the same document"),
            (##"{"$ref":"#nowhere"}"##, "there is no #nowhere"), (##"{"$ref":"#/a/01","a":[{},{}]}"##, "there is no"),
            (##"{"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}}"##, "two schemas have the anchor x"),
            (##"{"$defs":{"a":{"$id":"x"},"b":{"$id":"x"}}}"##, "two schemas have the $id x"),
            (##"{"$anchor":"1"}"##, "$.$anchor: expected a letter"), (##"{"$id":"a#b"}"##, "an $id has no fragment"),
            (##"{"$defs":{"a":{"$schema":"http://h/mine"}}}"##, "only the vocabulary of"),
            (##"{"$ref":"#/const","const":3}"##, "a schema is an object"),
            (##"{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"allOf":[{"$ref":"#/$defs/a"}]}}}"##, "without end"),
            (##"{"$dynamicRef":"#"}"##, "without end"), (##"{"$recursiveRef":"#"}"##, "it has $dynamicRef"),
        ])
    func refused(schema: String, message: String) throws {
        let refusal = try refusal(schema)
        #expect(refusal.contains(message), "\(refusal)")
    }

    @Test("A dynamic reference that leads back to itself ends the check")
    func endless() throws {
        let schema = ##"""
            {"$id":"a","$dynamicAnchor":"n","$ref":"b",
             "$defs":{"b":{"$id":"b","anyOf":[{"$dynamicRef":"#n"}],"$defs":{"c":{"$dynamicAnchor":"n","type":"null"}}}}}
            """##
        guard case .tooMuch(let reason)? = try SchemaCheck(try JSON(parsing: schema)).misfit("1") else {
            Issue.record("the check came to an end")
            return
        }
        #expect(reason.contains("nested"))
    }
}
