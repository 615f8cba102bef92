import Glibc
import Testing

@testable import BridgeJSON

@Suite("What an object says under one key")
struct MemberStringsTests {
    private func values(_ text: String, _ key: String = "namespace") throws(JSONMismatch) -> [String] {
        let bytes = Array(text.utf8)
        let result = bytes.withUnsafeBytes { text in
            Result { () throws(JSONMismatch) in try MemberStrings(key).values(in: text) }
        }
        return try result.get()
    }

    @Test(
        "is found however it is written, and nowhere else",
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

    @Test("is all of it, where the key stands there several times")
    func several() throws {
        #expect(try values(#"{"namespace":"a","x":{},"namespace":null,"n\u0061mespace":"b"}"#) == ["a", "b"])
    }

    @Test("is refused where the key stands there more often than anybody writes it")
    func many() throws {
        func text(_ count: Int) -> String {
            "{" + (0..<count).map { _ in #""n\u0061mespace":"a""# }.joined(separator: ",") + "}"
        }
        #expect(try values(text(16)).count == 16)
        let expected = JSONMismatch(path: "$.namespace", expected: "one string", got: "more than 16")
        #expect(throws: expected) { try values(text(17)) }
    }

    @Test(
        "is no string: the error names the place, whatever the value is",
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

    /// What this thread has worked, in seconds.
    private static var threadTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    @Test("is no string: however long what stands there is, it is passed over and not read")
    func longMismatch() {
        /// The least processor time of five.
        func time(_ key: String) -> Double {
            let text = Array("{\"\(key)\":[\(Array(repeating: "0", count: 500_000).joined(separator: ","))]}".utf8)
            let strings = MemberStrings("namespace")
            return text.withUnsafeBytes { text in
                (0..<5).map { _ in
                    let start = Self.threadTime
                    // `try?`: what it throws is another test's.
                    let values = try? strings.values(in: text)
                    #expect(values == (key == "namespace" ? nil : []))
                    return Self.threadTime - start
                }.min() ?? 0
            }
        }
        #expect(time("namespace") <= 3 * time("another"))
    }

    @Test("is compared byte by byte, also where the key is no plain word")
    func bytes() throws {
        #expect(try values("{\"\u{E9}\":\"a\"}", "\u{E9}") == ["a"])
        #expect(try values("{\"e\u{301}\":\"a\"}", "\u{E9}") == [])
        #expect(try values(#"{"\u00e9\"":"a"}"#, "\u{E9}\"") == ["a"])
    }

    @Test("agrees with what reading the whole object says, for many objects")
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
            // Of equal keys, reading keeps the last.
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

    @Test("is looked for in texts that are no JSON without reading beyond their ends")
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
