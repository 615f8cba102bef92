import Glibc
import Testing

@testable import BridgeJSON

@Suite("The strings of one key of an object")
struct MemberStringsTests {
    private func values(_ text: String, _ key: String = "namespace") throws(JSONMismatch) -> [String] {
        let bytes = Array(text.utf8)
        let result = bytes.withUnsafeBytes { text in
            Result { () throws(JSONMismatch) in try MemberStrings(key).values(in: text) }
        }
        return try result.get()
    }

    @Test(
        "are found in any spelling of the key, and only at the top level",
        arguments: [
            (#"{"namespace":"a"}"#, ["a"]), (#" { "x" : 1 , "namespace" : "a" } "#, ["a"]),
            (#"{"namesp\u0061ce":"a\u0062\n","x":2}"#, ["ab\n"]), (#"{"namespace":""}"#, [""]),
            (#"{"namespace":null}"#, []), (#"{"x":"namespace"}"#, []), (#"{"x":{"namespace":"a"}}"#, []),
            (#"{"x":["}",{"namespace":"a"}],"y":"\"namespace\":"}"#, []), (#"["namespace","a"]"#, []),
            (#""namespace""#, []), ("{}", []), ("[]", []), ("1", []), (#"{"Namespace":"a"}"#, []),
            (#"{"x\"namespace":"a","n":[[]],"m":{},"o":-1.5e3 ,"t":true}"#, []),
        ])
    func found(_ text: String, _ expected: [String]) throws {
        #expect(try values(text) == expected)
    }

    @Test("include all occurrences of the key")
    func several() throws {
        #expect(try values(#"{"namespace":"a","x":{},"namespace":null,"n\u0061mespace":"b"}"#) == ["a", "b"])
    }

    @Test("are refused if the key occurs more than 16 times")
    func many() throws {
        func text(_ count: Int) -> String {
            "{" + (0..<count).map { _ in #""n\u0061mespace":"a""# }.joined(separator: ",") + "}"
        }
        #expect(try values(text(16)).count == 16)
        let expected = JSONMismatch(path: "$.namespace", expected: "one string", got: "more than 16")
        #expect(throws: expected) { try values(text(17)) }
    }

    @Test(
        "are refused with the path if a value has another type",
        arguments: [
            (#"{"namespace":12}"#, "number 12"), (#"{"namespace":true,"x":1}"#, "true"),
            (#"{"namespace":["a"]}"#, "an array"), (#"{"namespace":[ ]}"#, "an empty array"),
            (#"{"namespace":{}}"#, "an empty object"), (#"{"namespace":[[]]}"#, "an array"),
            (#"{"namespace":"a","namespace":{"b":"}"}}"#, "an object"),
        ])
    func mismatch(_ text: String, _ got: String) {
        let expected = JSONMismatch(path: "$.namespace", expected: "a string", got: got)
        #expect(throws: expected) { try values(text) }
    }

    /// The processor time of this thread, in seconds.
    private static var threadTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    @Test("are refused without reading a long value of another type")
    func longMismatch() {
        /// Returns the least processor time of five runs.
        func time(_ key: String) -> Double {
            let text = Array("{\"\(key)\":[\(Array(repeating: "0", count: 500_000).joined(separator: ","))]}".utf8)
            let strings = MemberStrings("namespace")
            return text.withUnsafeBytes { text in
                (0..<5).map { _ in
                    let start = Self.threadTime
                    // `try?`: another test checks the error.
                    let values = try? strings.values(in: text)
                    #expect(values == (key == "namespace" ? nil : []))
                    return Self.threadTime - start
                }.min() ?? 0
            }
        }
        #expect(time("namespace") <= 3 * time("another"))
    }

    @Test("are found by comparing keys byte by byte, also if the key is not a plain word")
    func bytes() throws {
        #expect(try values("{\"\u{E9}\":\"a\"}", "\u{E9}") == ["a"])
        #expect(try values("{\"e\u{301}\":\"a\"}", "\u{E9}") == [])
        #expect(try values(#"{"\u00e9\"":"a"}"#, "\u{E9}\"") == ["a"])
    }

    @Test("agree with the parsed object, for random objects")
    func comparison() throws {
        var random = SystemRandomNumberGenerator()
        let keys = [#""namespace""#, #""n\u0061mespace""#, #""x""#, #""namespace ""#]
        let values = [#""a""#, #""\u0041\\\"{""#, "null", #"{"namespace":"z"}"#, "[1,[\"]\"]]", "-0.5e1", "true"]
        for _ in 0..<5_000 {
            let members = (0..<Int.random(in: 0...4, using: &random)).map { _ in
                let space = ["", " ", "\n\t"].randomElement(using: &random) ?? ""
                return [
                    keys.randomElement(using: &random) ?? "", space, ":", space,
                    values.randomElement(using: &random) ?? "",
                ]
                .joined()
            }
            let text = "{" + members.joined(separator: " ,") + "}"
            let json = try JSON(parsing: text)
            let found = try? self.values(text)
            // Parsing keeps the last of equal keys.
            guard let found else {
                #expect(
                    members.contains { !$0.hasSuffix("\"") && !$0.hasSuffix("null") || $0.hasSuffix("}") }, "\(text)")
                continue
            }
            if let last = json["namespace"]?.stringValue {
                #expect(found.last == last || found.contains(last), "\(text)")
            }
            if json["namespace"] == nil { #expect(found == [], "\(text)") }
        }
    }

    @Test("are searched in broken texts without reading beyond the end")
    func broken() {
        let text = Array(#"{"a":{"b":[1,"\"x"]},"namespace":"val","c":null}"#.utf8)
        for end in 0...text.count {
            for replaced in [UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "{"), 0] {
                var part = Array(text[..<end])
                if end > 0 { part[end - 1] = replaced }
                part.withUnsafeBytes { _ = try? MemberStrings("namespace").values(in: $0) }
            }
        }
    }
}
