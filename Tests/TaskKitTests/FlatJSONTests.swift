import CTaskPlugin
import TestSupport
import Testing

/// The functions of trestle_json.h.
@Suite("Members of flat options, in C")
struct FlatJSONTests {
    /// Calls a function with a copy in its own memory, so that the address sanitizer detects reads past its end.
    private func with<R>(_ text: [UInt8], _ body: (trestle_bytes) -> R) -> R {
        let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: text.count)
        defer { copy.deallocate() }
        _ = copy.initialize(from: text.map { CChar(bitPattern: $0) })
        return body(trestle_bytes(data: copy.baseAddress, size: copy.count))
    }

    private func with<R>(_ text: String, _ body: (trestle_bytes) -> R) -> R { with(Array(text.utf8), body) }

    private func string(_ text: String, _ name: String = "a", room: Int = 64) -> String? {
        with(text) { object in
            var buffer = [CChar](repeating: 1, count: room + 1)
            var length = 0
            guard trestle_json_string(object, name, &buffer, room, &length) else { return nil }
            #expect(length < room && buffer[length] == 0 && buffer[room] == 1)
            return String(decoding: buffer[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
    }

    private func integer(_ value: String) -> Int64? {
        with("{\"a\":\(value)}") { object in
            var number: Int64 = 0
            return trestle_json_int(object, "a", &number) ? number : nil
        }
    }

    private func double(_ value: String) -> Double? {
        with("{ \"b\" : [1], \"a\" : \(value) }") { object in
            var number = 0.0
            return trestle_json_double(object, "a", &number) ? number : nil
        }
    }

    @Test("Strings are decoded into the buffer; those that do not fit and unpaired surrogates are refused")
    func strings() {
        #expect(string(#"{"a":"x"}"#) == "x")
        #expect(string(#" { "\u0061" : "\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é" } "#) == "\"\\/\u{8}\u{c}\n\r\té😀é")
        #expect(string(#"{"a":"x","b":1,"a":"last"}"#) == "last")
        #expect(string(#"{"b":{"a":"inner"}}"#) == nil)
        #expect(string(#"{"aa":"x","":"y"}"#) == nil)
        #expect(string(#"{"aa":"x","":"y"}"#, "") == "y")
        #expect(string(#"{"a":"abc"}"#, room: 4) == "abc")
        #expect(string(#"{"a":"abc"}"#, room: 3) == nil)
        #expect(string(#"{"a":""}"#, room: 1) == "")
        #expect(string(#"{"a":"\ud800"}"#) == nil)
        #expect(string(#"{"a":1}"#) == nil)
        #expect(string(#"{"a":"x""#) == nil)
        #expect(string(#"{"a":"x\u0000y"}"#) == "x\u{0}y")
        var buffer = [CChar](repeating: 0, count: 8)
        #expect(!with(#"{"a":"x\u0000y"}"#) { trestle_json_string($0, "a", &buffer, 8, nil) })
    }

    @Test("Whole numbers are read exactly in every form, and others are refused")
    func integers() {
        #expect(integer("0") == 0 && integer("-0") == 0 && integer("0e999999999999999999999") == 0)
        #expect(integer("42") == 42 && integer("-42.0") == -42 && integer("4.2e1") == 42 && integer("4200E-2") == 42)
        #expect(integer("1020") == 1_020 && integer("1e18") == 1_000_000_000_000_000_000)
        #expect(integer("9223372036854775807") == .max && integer("-9223372036854775808") == .min)
        #expect(integer("9223372036854775808") == nil && integer("1e19") == nil && integer("1e999999999") == nil)
        #expect(integer("0.5") == nil && integer("1e-1") == nil && integer("\"1\"") == nil && integer("true") == nil)
        #expect(integer("1" + String(repeating: "0", count: 30) + "e-30") == 1)
    }

    @Test("Doubles are the nearest ones, and never infinite")
    func doubles() {
        for value in ["0", "-0.0", "1.5", "-2e-3", "123456789.123456789", "5e-324", "1.7976931348623157e308"] {
            #expect(double(value) == Double(value))
        }
        #expect(double("1e400") == nil && double("null") == nil && double("\"1\"") == nil)
    }

    @Test("Booleans, kinds and the presence of members are read")
    func kinds() {
        with(#"{"t":true,"f":false,"n":null,"i":1,"s":"","a":[],"o":{}}"#) { object in
            var truth = false
            #expect(trestle_json_bool(object, "t", &truth) && truth)
            #expect(trestle_json_bool(object, "f", &truth) && !truth)
            #expect(!trestle_json_bool(object, "n", &truth))
            let names: [String] = ["x", "n", "t", "i", "s", "a", "o"]
            #expect(names.map { trestle_json_kind_of(object, $0).rawValue } == Array(0...6))
            #expect(trestle_json_has(object, "n") && !trestle_json_has(object, "x"))
        }
        #expect(!with("[1]") { trestle_json_has($0, "a") })
        #expect(!trestle_json_has(trestle_bytes(), "a"))
    }

    @Test("A text is written as a JSON string if it fits, and nothing is written past the buffer")
    func quoting() {
        let text = "é\"\\\n\u{1}x"
        var buffer = [CChar](repeating: 7, count: 64)
        let length = with(text) { trestle_json_quote($0, &buffer, 64) }
        let quoted = String(decoding: buffer[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
        #expect(quoted == #""é\"\\\u000a\u0001x""#)
        #expect(string("{\"a\":\(quoted)}") == text)
        for room in 0..<64 {
            var buffer = [CChar](repeating: 7, count: 64)
            #expect((with(text) { trestle_json_quote($0, &buffer, room) } > 0) == (room > length), "\(room)")
            #expect(buffer[room...].allSatisfy { $0 == 7 })
        }
    }

    @Test("A cut or changed text is never read past its end, and never causes a hang")
    func mutations() {
        var random = SeededGenerator(seed: 18)
        let whole = Array(#"{"a":"\ud83d\ude00é","b":[1,-2.5e3,{"c":null}],"a":{"d":[true,false]},"e":""}"#.utf8)
        for _ in 0..<5_000 {
            var text = Array(whole[..<Int.random(in: 0...whole.count, using: &random)])
            for _ in 0..<Int.random(in: 0...2, using: &random) where !text.isEmpty {
                text[Int.random(in: 0..<text.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            with(text) { object in
                var buffer = [CChar](repeating: 0, count: 8)
                var (length, integer, double) = (0, Int64(0), 0.0)
                _ = trestle_json_string(object, "a", &buffer, 8, &length)
                _ = trestle_json_int(object, "b", &integer)
                _ = trestle_json_double(object, "e", &double)
                #expect(trestle_json_valid(object) || !trestle_json_has(object, "a"))
            }
        }
    }

    /// As in the daemon: numbers of any size are accepted. Invalid UTF-8, unpaired surrogates, a byte order mark and
    /// 500 levels are not.
    private static let acceptedOfEither: Set = [
        "i_number_double_huge_neg_exp.json", "i_number_huge_exp.json", "i_number_neg_int_huge_exp.json",
        "i_number_pos_double_huge_exp.json", "i_number_real_neg_overflow.json", "i_number_real_pos_overflow.json",
        "i_number_real_underflow.json", "i_number_too_big_neg_int.json", "i_number_too_big_pos_int.json",
        "i_number_very_big_negative_int.json",
    ]

    @Test(
        "All 95 JSON texts of the JSONTestSuite are valid, alone and as a member, and all 188 others are not",
        .enabled(if: PublicSuite.jsonParsing.isThere, "\(PublicSuite.jsonParsing.missing)"))
    func suite() {
        var count: [Character: Int] = [:]
        var accepted: Set<String> = []
        for file in PublicSuite.jsonParsing.files(in: "test_parsing") {
            let verdict = with(file.bytes) { trestle_json_valid($0) }
            let member = with(Array(#"{"a":"#.utf8) + file.bytes + Array("}".utf8)) { trestle_json_has($0, "a") }
            // Some texts that are invalid alone are part of a valid member's text, such as two values with a comma.
            if file.name.first == "y" { #expect(member, "\(file.name)") }
            count[file.name.first ?? "?", default: 0] += 1
            switch file.name.first {
            case "y": #expect(verdict, "\(file.name)")
            case "n": #expect(!verdict, "\(file.name)")
            default: if verdict { accepted.insert(file.name) }
            }
        }
        #expect(count == ["y": 95, "n": 188, "i": 35])
        #expect(accepted == Self.acceptedOfEither)
    }
}
