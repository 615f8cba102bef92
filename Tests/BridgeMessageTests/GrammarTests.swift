import BridgeJSON
import BridgeMessage
import TestSupport
import Testing

/// Values that JSON's grammar allows and forbids, as options of a call. Allowed options are passed on unchanged;
/// forbidden ones make the line invalid.
@Suite("The grammar of a line")
struct GrammarTests {
    static let allowed: [String] = [
        "null", "true", "false", "0", "-0", "1", "-1", "10", "0.5", "-0.5", "1e5", "1E+5", "1e-5", "0e0", "1.0e400",
        "1e400", "123456789012345678901234567890", "-9223372036854775809", "0.1234567890123456789",
        #""""#, #""a""#, #""\"\\\/\b\f\n\r\t""#, #""\u0041""#, #""\u00e9\uD83D\uDE00""#, #""é你🎉""#, "\"\u{7f}\"",
        "\"\u{2028}\"", "[]", "[ ]", "[1]", "[1,2]", "[ 1 , [ ] , { } ]", "{}", #"{"a":1}"#,
        #"{ "a" : [ ] , "b" : { } }"#,
        #"{"a":1,"a":2}"#, #"{"":""}"#, "[\t1,\r2 ]", "[[[[[[[[[[]]]]]]]]]]", #"["]","[","}","{",",",":"]"#,
        #""a string of more than sixty-four bytes, so that it crosses one of the blocks that vector code looks at""#,
        #""ends in escaped backslashes \\\\""#, #"{"a\"b\\":"c"}"#,
    ]

    static let forbidden: [String] = [
        "", "tru", "trueish", "True", "nul", "nulll", "falsee", "undefined", "NaN", "Infinity", "-Infinity", "-", "+1",
        "01", "-01", "1.", ".5", "1e", "1e+", "1.e5", "0x10", "1_000", "1 2", "--1", "1a", "[1,]", "[,1]", "[1 2]", "[",
        "]", "[1", "[1}", "{", "}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{,"a":1}"#, #"{"a":1 "b":2}"#, #"{a:1}"#,
        #"{'a':1}"#, #"{"a":1]"#, #"{1:1}"#, #"{"a"::1}"#, #"{"a" 1}"#, #"""#, #""abc"#, #""\q""#, #""\u12""#,
        #""\u12G4""#, #""\uD800""#, #""\uDC00""#, #""\uD800\u0041""#, #""\uD800x""#, #""\x41""#, "\"\t\"", "\"\u{0}\"",
        "\"\u{1f}\"", "'a'", "// comment\n1", "/* */1", #""a""b""#, #""a"b"#, #"b"a""#, "[1],", "{}}", "[]]", ",", ":",
        #"{"a":"b":"c"}"#, "\u{feff}1", "[true false]", "nullnull", #"[1"a"]"#, #"{"a":1"b":2}"#, "[[]", "{\"a\":[}",
    ]

    @Test("Allowed JSON is passed on byte for byte", arguments: allowed)
    func allows(options: String) {
        #expect(decode(#"{"task":"t","options":"# + options + "}") == [call("t", options)])
        #expect(decode(#" { "options" : "# + options + #" , "task" : "t" } "#) == [call("t", options)])
    }

    @Test("Forbidden JSON makes the line invalid", arguments: forbidden)
    func forbids(options: String) {
        for line in [#"{"task":"t","options":\#(options)}"#, #"{"options":\#(options),"task":"t"}"#] {
            let items = decode(line)
            #expect(items.count == 1)
            guard case .problem(.messageInvalid, _)? = items.first else {
                Issue.record("this passed: \(line)")
                continue
            }
        }
    }

    @Test(
        "Invalid UTF-8 makes the line invalid, at any position",
        arguments: [
            [0xFF], [0xC0, 0x80], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x80], [0xC3],
            [0xF8, 0x88, 0x80, 0x80, 0x80],
        ] as [[UInt8]])
    func invalidUTF8(bytes: [UInt8]) {
        for fillerCount in [0, 1, 30, 61, 62, 63, 64, 100] {
            let filler = Array(repeating: UInt8(ascii: "a"), count: fillerCount)
            let line = Array(#"{"task":"t","options":""#.utf8) + filler + bytes + filler + Array("\"}".utf8)
            guard case .problem(.messageInvalid, _)? = decode(line).first else {
                Issue.record("\(bytes) passed behind \(fillerCount) bytes")
                continue
            }
        }
    }

    @Test("128 levels, including the envelope, are accepted, and 129 are not")
    func depth() {
        func line(_ levels: Int) -> String {
            #"{"task":"t","options":"# + String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
                + "}"
        }
        #expect(decode(line(127)).first != .problem(code: .messageInvalid, id: nil))
        #expect(decode(line(128)) == [.problem(code: .messageInvalid, id: nil)])
        #expect(decode("[" + line(127) + "]").first != .problem(code: .messageInvalid, id: nil))
        #expect(decode("[" + line(128) + "]") == [.problem(code: .messageInvalid, id: nil)])
        #expect(decode(String(repeating: "[", count: 900_000)) == [.problem(code: .messageInvalid, id: nil)])
        #expect(decode(String(repeating: #"{"a":"#, count: 200_000)) == [.problem(code: .messageInvalid, id: nil)])
    }

    @Test("Mutated traffic that is not JSON is never accepted, and nothing crashes", arguments: 0..<40 as Range<UInt64>)
    func mutations(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for line in recordedTraffic {
            for _ in 0..<25 {
                let bytes = generator.mutate(Array(line.utf8))
                let items = decode(bytes)
                let isJSON = (try? JSON(parsing: bytes)) != nil
                #expect(!items.isEmpty || bytes.isEmpty)
                let passed = items.contains { if case .problem = $0 { false } else { true } }
                #expect(!passed || isJSON, "\(String(decoding: bytes, as: UTF8.self))")
            }
        }
    }
}
