import BridgeJSON
import TestSupport
import Testing

private func letters(_ count: Int) -> String { String(repeating: #"\p{L}"#, count: count) }

@Suite("Patterns of schemas")
struct SchemaPatternTests {
    private func check(_ pattern: String) throws(JSONSchemaError) -> SchemaCheck {
        try SchemaCheck(["pattern": .string(pattern)])
    }

    private func refusal(_ pattern: String) -> String {
        do throws(JSONSchemaError) {
            _ = try check(pattern)
            return "taken"
        } catch {
            return error.description
        }
    }

    @Test(
        "match as in ECMA-262",
        arguments: [
            ("a+", ["xaay"], ["b", ""]), ("^a*$", ["", "aa"], ["a\n", "ab"]), ("^$", [""], ["\n"]),
            (#"^\d$"#, ["7"], ["٣", "a"]), (#"^\D$"#, ["٣", "é"], ["7"]), (#"^\w+$"#, ["aZ_9"], ["é", "-"]),
            (#"^\W$"#, ["é", " "], ["a"]),
            (#"^\s$"#, [" ", "\t", "\u{B}", "\u{A0}", "\u{FEFF}", "\u{2029}", "\u{3000}"], ["a", "\u{200B}", ""]),
            (#"^\S$"#, ["a", "\u{200B}", "𝄞"], [" ", "\u{A0}"]), (#"^[\S]$"#, ["a"], ["\u{2003}"]),
            ("^.$", ["a", "é", "𝄞", "\u{85}"], ["\n", "\r", "\u{2028}", ""]),
            (#"^\cJ$"#, ["\n"], ["J"]), (#"^\x41\u0042\u{1d11e}\ud834\udd1e\0$"#, ["AB𝄞𝄞\u{0}"], ["AB"]),
            (#"^[\b]$"#, ["\u{8}"], ["b"]), (#"\bfoo\b"#, ["a foo b", "éfooé"], ["afoo", "foo1"]),
            (#"^a\Bb$"#, ["ab"], ["a b"]), (#"\B"#, ["", "ab", "é", "é!"], ["a"]), (#"a\Bé|\B$"#, ["é"], ["aéa"]),
            (#"^\p{Letter}+$"#, ["πéЖ"], ["1", ""]), (#"^\p{Lowercase_Letter}\p{Lu}\p{gc=Nd}$"#, ["aB٣"], ["AB1"]),
            (#"^\P{L}$"#, ["1"], ["a"]), (#"^[\p{L}\p{N}_-]+$"#, ["é1_-"], ["!"]), (#"^[^\p{L}]$"#, ["1"], ["é"]),
            (#"^\p{Script=Greek}\p{sc=Latin}$"#, ["πa"], ["aπ"]), (#"^\p{LC}\P{LC}$"#, ["a1"], ["1a"]),
            (#"^\p{ASCII}\P{ASCII}\p{Any}$"#, ["aé𝄞"], ["éa𝄞"]),
            ("^(?:a|b){2,3}?$", ["ab", "bba"], ["a", "abab"]), ("^(?<year>[0-9]{4})$", ["2024"], ["24"]),
            ("^a{2}b{1,}$", ["aab", "aabb"], ["ab", "aa"]), ("^{a}]$", ["{a}]"], ["a"]),
            ("^a{,3}$", ["a{,3}"], ["aaa"]),
            ("^[[:alpha:]]$", ["a]", "[]", ":]"], ["b", "b]"]), ("^[]$", [], ["", "a"]), ("^[^]$", ["a", "\n"], [""]),
            (#"^[a\-z]$"#, ["-", "a", "z"], ["b"]), ("^[a-]$", ["-", "a"], ["b"]),
            (#"^[\w-.]$"#, ["-", "a", "."], ["!"]),
            (#"^\/\.\-\@$"#, ["/.-@"], ["x"]), ("^[&&--~~]$", ["&", "-", "~"], ["a"]), ("é|ß", ["aß"], ["e", "s"]),
            ("(?:)", ["", "a"], []), ("^(a|)$", ["a", ""], ["b"]),
        ])
    func meaning(pattern: String, matching: [String], other: [String]) throws {
        let check = try check(pattern)
        for text in matching { #expect(check.misfit(JSON.string(text).bytes) == nil, "\(pattern) matches \(text)") }
        for text in other { #expect(check.misfit(JSON.string(text).bytes) != nil, "\(pattern) does not match \(text)") }
        #expect(check.misfit("7") == nil)
    }

    @Test(
        "are refused with a reason if they are invalid or cannot be matched in linear time",
        arguments: [
            ("(?=a)", "lookaheads"), ("(?!a)", "lookaheads"), ("(?<=a)", "lookbehinds"), ("(?<!a)b", "lookbehinds"),
            (#"(a)\1"#, "backreferences"), (#"(?<x>a)\k<x>"#, "backreferences"), ("(?i:a)", "must be followed by"),
            ("a**", "nothing that * could repeat"), ("*", "nothing"), ("^*", "nothing"), ("a|+", "nothing"),
            ("(", "a group does not end"), (")", "has no ("), ("[a", "a class does not end"),
            (#"\"#, #"it ends with a \"#),
            ("[b-a]", "wrong order"), ("a{3,2}", "wrong order"), ("a{1001}", "1000 repetitions"),
            (#"\q"#, "there is no escape"), (#"\u12"#, "is not a character"), (#"\ud834"#, "surrogate"),
            (#"\u{110000}"#, "is not a character"), (#"\01"#, "octal"), (#"\c1"#, "is not a character"),
            (#"\p{Foo}"#, #"the property \p{Foo}"#), (#"\p{Script=Foo}"#, "invalid character class"),
            (#"\p{Script=^Greek}"#, #"the property \p{Script=^Greek}"#), (#"\P{sc=^Lu}"#, #"the property \p{sc=^Lu}"#),
            (#"\p{C}"#, "not supported"), (#"\p{Emoji}"#, "not supported"), (#"\pL"#, "in braces"),
            (#"[\P{LC}]"#, "negated property"), ("(((a{100}){100}){100})", "repetition"),
            (#"^\p{L}{500}$"#, "too large"), (String(repeating: "(", count: 300), "groups in one another"),
            (String(repeating: "a", count: 5_000), "4096 bytes"),
        ])
    func refused(pattern: String, message: String) {
        #expect(refusal(pattern).contains(message), "\(refusal(pattern))")
        #expect(refusal(pattern).hasPrefix("$.pattern: "))
    }

    @Test("have a limited number of properties, inside and outside of classes")
    func propertiesOfOne() throws {
        for pattern in [letters(65), "[\(letters(818))]", "(?:\(letters(33))|[^\(letters(32))])"] {
            #expect(refusal(pattern).contains("64 properties"), "\(refusal(pattern))")
        }
        #expect(refusal("^[\(letters(64))]$") == "taken")
    }

    @Test("of one schema are refused if they have too many properties together")
    func properties() throws {
        func schema(_ count: Int) -> JSON {
            let pattern = "[" + letters(60) + "]"
            return .object(["allOf": .array((0..<count).map { ["pattern": .string("\(pattern)\($0)")] })])
        }
        _ = try SchemaCheck(schema(2))
        #expect(throws: JSONSchemaError.self) { try SchemaCheck(schema(3)) }
    }

    @Test("do not displace others in the cache if they are refused")
    func refusedAndCached() throws {
        let kept = try SchemaCheck(["pattern": "^kept[0-9]$"])
        let room = SchemaRoom()
        // Other tests compile patterns at the same time and may displace this one, so it is tried several times.
        func isKept() throws -> Bool {
            for _ in 0..<20 {
                _ = kept.misfit(#""kept7""#)
                for number in 0..<17 { #expect(refusal("^\\p{L}{500}\(number)$").contains("too large")) }
                if try Array(#""kept7""#.utf8).withUnsafeBytes({ try kept.checkQuickly($0, in: room) }) { return true }
            }
            return false
        }
        #expect(try isKept())
    }

    @Test("are charged for their compilation in a check, once each")
    func compiled() throws {
        let patterns = (0..<6).map { #"{"pattern":"^\\p{L}.*\#($0)"}"# }.joined(separator: ",")
        let check = try SchemaCheck(try JSON(parsing: #"{"items":{"allOf":[\#(patterns)]}}"#))
        func strings(_ count: Int) -> String {
            "[\(Array(repeating: #""a012345""#, count: count).joined(separator: ","))]"
        }
        #expect(check.misfit(strings(500)) == nil)
        guard case .tooMuch? = check.misfit(strings(800)) else {
            Issue.record("it was checked")
            return
        }
    }

    @Test("of one schema are limited in number, and equal ones count once")
    func bounded() throws {
        func schema(_ patterns: [String]) -> JSON {
            .object(["allOf": .array(patterns.map { ["pattern": .string($0)] })])
        }
        _ = try SchemaCheck(schema((0..<64).map { "a{\($0)}" } + Array(repeating: "a{1}", count: 100)))
        #expect(throws: JSONSchemaError.self) { try SchemaCheck(schema((0..<65).map { "a{\($0)}" })) }
        #expect(throws: JSONSchemaError.self) {
            try SchemaCheck(schema((0..<20).map { #"\p{L}\p{N}\#($0)"# }))
        }
    }

    @Test("with two compositions of one accented letter are different")
    func spellings() throws {
        let (one, two) = ("\u{E9}", "e\u{301}")
        let check = try SchemaCheck([
            "patternProperties": ["^\(one)$": ["type": "string"], "^\(two)$": ["type": "integer"]]
        ])
        #expect(check.misfit(#"{"\#(one)":"x","\#(two)":1}"#) == nil)
        #expect(check.misfit(#"{"\#(one)":1}"#) != nil)
        #expect(check.misfit(#"{"\#(two)":"x"}"#) != nil)
    }

    @Test("are matched with a limited number of steps, for any text")
    func priced() throws {
        let text = JSON.string(String(repeating: "ab", count: 200_000)).bytes
        guard case .tooMuch? = try check("(a|b)*a(a|b){500}c").misfit(text) else {
            Issue.record("it was checked")
            return
        }
        #expect(try check("^(a|b)*$").misfit(JSON.string(String(repeating: "ab", count: 10_000)).bytes) == nil)
    }

    @Test("never trap if they are mutated")
    func mutated() {
        let patterns = [
            #"^(?:[a-z\d_\-]+|\p{Letter}{2,5}?)$"#, #"(?<y>\d{4})-[^\s\]]*\u{1f600}|\cA\x41.+?"#, #"[[\]^-\w]*\b\B\/"#,
        ]
        var generator = SeededGenerator(seed: 20_241_123)
        for round in 0..<2_000 {
            let mutated = generator.mutate(Array(patterns[round % patterns.count].utf8))
            let pattern = String(decoding: mutated, as: UTF8.self)
            guard let check = try? check(pattern) else { continue }
            for text in ["", "a", "é-2024", "\n"] { _ = check.misfit(JSON.string(text).bytes) }
        }
    }
}
