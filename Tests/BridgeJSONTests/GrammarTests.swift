import BridgeJSON
import Testing

@Suite("The grammar of JSON")
struct GrammarTests {
    private static let allowedTexts: [(String, JSON)] = [
        ("null", nil), ("true", true), ("false", false), ("0", 0), ("-0.0", .number(JSONNumber(-0.0) ?? JSONNumber(1))),
        (#""""#, ""), ("[]", []), ("{}", [:]), (" \t\r\n[ 1 , 2 ] \n", [1, 2]), (#"{ "a" : [ ] }"#, ["a": []]),
        (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u00e9\u20AC\uD834\uDD1E""#, "é€𝄞"),
        (#""\u0000""#, "\u{0}"), ("\"\u{7F}\u{80}\u{FFFF}\"", "\u{7F}\u{80}\u{FFFF}"), (#""é€𝄞""#, "é€𝄞"),
        (#"{"":1}"#, ["": 1]), (#"[[[[]]]]"#, [[[[]]]]),
    ]

    @Test("Text that RFC 8259 allows is read", arguments: allowedTexts)
    func allowed(_ text: String, _ value: JSON) throws {
        #expect(try JSON(parsing: text) == value)
    }

    @Test(
        "Text that RFC 8259 does not allow is refused, with the position of the error",
        arguments: [
            ("", 0), (" ", 1), ("nul", 0), ("nulll", 4), ("True", 0), ("'a'", 0), ("[1,]", 3), ("[,1]", 1),
            ("[1 2]", 3),
            ("[", 1), ("]", 0), ("[1", 2), ("{", 1), ("{a:1}", 1), (#"{"a"}"#, 4), (#"{"a":}"#, 5), (#"{"a":1,}"#, 7),
            (#"{"a":1 "b":2}"#, 7), (#"{1:2}"#, 1), ("{}{}", 2), ("1 2", 2), ("// a\n1", 0), ("[1/**/]", 2), ("NaN", 0),
            ("Infinity", 0), (#""a"#, 2), (#""\"#, 1), (#""\q""#, 1), (#""\u12""#, 1), (#""\u12G4""#, 1),
            (#""\ud834""#, 7), (#""\ud834\u0041""#, 13), (#""\udd1e""#, 7), (#""\ud834x""#, 7), ("\"\n\"", 1),
            ("\"\t\"", 1), ("\"\u{0}\"", 1), ("\u{FEFF}1", 0), ("\u{A0}1", 0),
        ])
    func forbidden(_ text: String, _ offset: Int) {
        #expect {
            try JSON(parsing: text)
        } throws: { error in
            let error = error as? JSONSyntaxError
            return error?.offset == offset && error?.reason.isEmpty == false
        }
    }

    @Test(
        "Numbers outside the grammar are refused",
        arguments: [
            "01", "-", "-a", "+1", ".5", "1.", "1.e3", "1e", "1e+", "1E-", "0x10", "1_000", "00", "-01", "1.2.3",
            "1e2.5",
            "--1", "1e2e3", "٣",
        ])
    func forbiddenNumbers(_ text: String) {
        #expect(JSONNumber(text: text) == nil)
        #expect(throws: JSONSyntaxError.self) { try JSON(parsing: text) }
        #expect(throws: JSONSyntaxError.self) { try JSON(parsing: "[\(text)]") }
    }

    @Test(
        "Invalid UTF-8 is refused",
        arguments: [
            [0x80], [0xC3], [0xC0, 0x80], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xFF],
            [0xF0, 0x80, 0x80, 0x80], [0xC3, 0x28],
        ] as [[UInt8]])
    func encoding(_ bytes: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        #expect(throws: JSONSyntaxError.self) { try JSON(parsing: [quote] + bytes + [quote]) }
        #expect(throws: JSONSyntaxError.self) { try JSON(parsing: [quote] + Array(#"\n"#.utf8) + bytes + [quote]) }
        #expect(throws: JSONSyntaxError.self) { try JSON(parsing: Array(#"{""#.utf8) + bytes + Array(#"":1}"#.utf8)) }
        #expect(throws: JSONSyntaxError.self) { try JSON(parsing: bytes) }
    }

    @Test("Nesting is limited: 128 levels are read, 129 are not")
    func depth() throws {
        func nested(_ levels: Int) -> String {
            String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
        _ = try JSON(parsing: nested(128))
        #expect(throws: JSONSyntaxError.self) { try JSON(parsing: nested(129)) }
        _ = try JSON(parsing: nested(512), maximumDepth: 512)
        #expect(throws: JSONSyntaxError.self) { try JSON(parsing: nested(513), maximumDepth: 100_000) }
        let objects = String(repeating: #"{"a":"#, count: 128) + "1" + String(repeating: "}", count: 128)
        _ = try JSON(parsing: objects)
        #expect(throws: JSONSyntaxError.self) { try JSON(parsing: #"{"a":\#(objects)}"#) }
        // Far beyond the limit, a text is refused before the stack overflows.
        #expect(throws: JSONSyntaxError.self) { try JSON(parsing: String(repeating: "[", count: 1_000_000)) }
        #expect(throws: JSONSyntaxError.self) {
            try JSON(parsing: String(repeating: #"{"a":"#, count: 200_000), maximumDepth: .max)
        }
    }

    @Test("Nothing is read beyond the last byte")
    func bounds() throws {
        let texts = ["[1,2", "\"ab", #""\u00e"#, "tru", "-1.5e", #"{"a":tr"#]
        for text in texts {
            let bytes = Array(text.utf8)
            // The bytes after the end would complete the value if they were read.
            let longer = bytes + Array("9]\"ue5}".utf8)
            #expect(throws: JSONSyntaxError.self) {
                try longer.withUnsafeBytes { try JSON(parsing: UnsafeRawBufferPointer(rebasing: $0[..<bytes.count])) }
            }
        }
    }
}
