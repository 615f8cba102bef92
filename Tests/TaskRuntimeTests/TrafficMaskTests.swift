import BridgeJSON
import TestSupport
import Testing

@testable import TaskRuntime

@Suite("Masking of secrets")
struct TrafficMaskTests {
    private func mask(_ text: String) -> TrafficMask.Shown {
        Array(text.utf8).withUnsafeBytes { TrafficMask.apply($0, atMost: TrafficMask.usualBytes) }
    }

    private func masked(_ text: String) -> String { String(decoding: mask(text).text, as: UTF8.self) }

    @Test(
        "Values of members with a secret's name are masked, whatever their type and the spelling of the name",
        arguments: [
            (#"{"password":"hunter2"}"#, #"{"password":"<private>"}"#),
            (#"{ "Password" : "hunter2" , "a":1}"#, #"{ "Password":"<private>" , "a":1}"#),
            (#"{"access_token":["hunter2",{"x":"hunter2"}],"b":[2]}"#, #"{"access_token":"<private>","b":[2]}"#),
            (#"{"pass\u0077ord":"hunter2"}"#, #"{"pass\u0077ord":"<private>"}"#),
            (#"{"client-secret":{"a":{"b":"hunter2}\""}}}"#, #"{"client-secret":"<private>"}"#),
            (#"[{"token":12345},{"Pass_Word":null}]"#, #"[{"token":"<private>"},{"Pass_Word":"<private>"}]"#),
            (#"{"user":{"newPassword":true}}"#, #"{"user":{"newPassword":"<private>"}}"#),
            (#"{"API_KEY":-1e5,"t":"x"}"#, #"{"API_KEY":"<private>","t":"x"}"#),
            ("{\"a\":1,\n\"Authorization\":\n\"Bearer x\"}", #"{"a":1, "Authorization":"<private>"}"#),
        ])
    func secrets(text: String, expected: String) {
        #expect(masked(text) == expected)
        #expect(!mask(text).isCut)
    }

    @Test("A name with escapes that is too long to be decoded counts as a secret's name")
    func longNames() {
        let long = String(repeating: "x", count: 70_000)
        #expect(!SecretNames.isOne(quoted: Array(#""\#(long)""#.utf8)))
        #expect(SecretNames.isOne(quoted: Array(#""\u0061\#(long)""#.utf8)))
        #expect(!SecretNames.isOne(quoted: Array(#""\u0061""#.utf8)))
    }

    @Test(
        "Text that only resembles a secret is not masked",
        arguments: [
            #"{"pass":"word","a":"password"}"#, #"["password","token"]"#, #""secret""#, #"{"tok":"en"}"#, "12", "null",
            #"{"a\"b\\":"c:\"token\":1"}"#, "{}", "[]", #"{"":""}"#,
        ])
    func others(text: String) {
        #expect(masked(text) == text)
    }

    @Test("A name is read once, for any number of dashes")
    func linear() {
        var reads = 0
        func name(_ text: String) -> AnySequence<UInt8> {
            var rest = text.utf8.makeIterator()
            return AnySequence {
                AnyIterator {
                    reads += 1
                    return rest.next()
                }
            }
        }
        let dashes = String(repeating: "-", count: 20_000)
        #expect(!SecretNames.isOne(name(dashes)))
        #expect(reads == 20_001)
        reads = 0
        #expect(SecretNames.isOne(name("x" + dashes + "pass" + dashes + "Wo_rd" + dashes)))
        #expect(reads <= 40_011)
    }

    @Test("A long payload is cut at a character; after a secret that is too long, nothing is shown")
    func cut() {
        let long = mask(#"{"a":""# + String(repeating: "é", count: 2000) + #""}"#)
        #expect(long.isCut)
        #expect(long.text.count <= TrafficMask.usualBytes)
        #expect(String(validating: long.text, as: UTF8.self)?.hasPrefix(#"{"a":"é"#) == true)
        let secret = mask(#"{"token":""# + String(repeating: "x", count: 100_000) + #"","a":1}"#)
        #expect(secret.isCut)
        #expect(String(decoding: secret.text, as: UTF8.self) == #"{"token":"<private>""#)
        let exact = mask("\"" + String(repeating: "x", count: TrafficMask.usualBytes - 2) + "\"")
        #expect(!exact.isCut)
        #expect(exact.text.count == TrafficMask.usualBytes)
        #expect(mask("[" + String(repeating: "1,", count: 5_000) + "1]").isCut)
    }

    @Test("No document shows a secret; an uncut result equals the document with its secrets replaced")
    func anyDocument() throws {
        var generator = SeededGenerator(seed: 20_261_122)
        for _ in 0..<3_000 {
            let document = Self.document(depth: 4, &generator)
            let shown = mask(document.text)
            let text = String(decoding: shown.text, as: UTF8.self)
            #expect(!text.contains("hunter2"), "\(document.text)")
            if !shown.isCut { #expect(try JSON(parsing: shown.text) == Self.hidden(document), "\(document.text)") }
        }
    }

    @Test("Masking of invalid JSON keeps the limit of length")
    func mutated() {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<3_000 {
            let bytes = generator.mutate(Self.document(depth: 3, &generator).bytes)
            let shown = bytes.withUnsafeBytes { TrafficMask.apply($0, atMost: TrafficMask.usualBytes) }
            #expect(shown.text.count <= max(TrafficMask.usualBytes, bytes.count * 12))
        }
    }

    /// Returns a random document. Every leaf inside the value of a secret name is "hunter2".
    private static func document(depth: Int, isSecret: Bool = false, _ generator: inout SeededGenerator) -> JSON {
        let plain: JSON = isSecret ? "hunter2" : ["x\"y", 12, nil, true, "π\\"].randomElement(using: &generator) ?? nil
        switch depth == 0 ? 0 : Int.random(in: 0...3, using: &generator) {
        case 0: return plain
        case 1:
            return .array(
                (0..<Int.random(in: 0...4, using: &generator)).map { _ in
                    document(depth: depth - 1, isSecret: isSecret, &generator)
                })
        default:
            var object = JSONObject()
            for _ in 0..<Int.random(in: 0...5, using: &generator) {
                let name =
                    ["a", "b\"", "password", "apiKey", "Set-Cookie", "tok"].randomElement(using: &generator) ?? ""
                object[name] = document(
                    depth: depth - 1, isSecret: isSecret || SecretNames.isOne(name), &generator)
            }
            return .object(object)
        }
    }

    private static func hidden(_ document: JSON) -> JSON {
        switch document {
        case .array(let elements): return .array(elements.map(hidden))
        case .object(let members):
            var object = JSONObject()
            for (name, value) in members {
                object[name] = SecretNames.isOne(name) ? .string(TrafficMask.placeholder) : hidden(value)
            }
            return .object(object)
        default: return document
        }
    }
}

extension SecretNames {
    fileprivate static func isOne(quoted name: [UInt8]) -> Bool { name.withUnsafeBytes { isOne(quoted: $0) } }
}
