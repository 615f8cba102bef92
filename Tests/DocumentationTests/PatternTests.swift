import BridgeJSON
import Testing

@Suite("Patterns of the examples")
struct PatternTests {
    private func matches(_ pattern: String, _ message: String) throws -> Bool {
        var values: Pattern.Values = [:]
        return try Pattern(pattern).matches(JSON(parsing: message), &values)
    }

    @Test("A message matches its own text in any order of members, and no other text")
    func exact() throws {
        #expect(try matches(#"{"a":1,"b":[true,null]}"#, #"{"b":[true,null],"a":1}"#))
        #expect(try !matches(#"{"a":1}"#, #"{"a":1,"b":2}"#))
        #expect(try !matches(#"{"a":1,"b":2}"#, #"{"a":1}"#))
        #expect(try !matches(#"{"a":1.0}"#, #"{"a":1}"#))
        #expect(try !matches("[1,2]", "[2,1]"))
    }

    @Test("A name matches any value, then only this value")
    func names() throws {
        #expect(try matches(#"{"a":<x>,"b":<x>}"#, #"{"a":"t","b":"t"}"#))
        #expect(try !matches(#"{"a":<x>,"b":<x>}"#, #"{"a":"t","b":"u"}"#))
        var values: Pattern.Values = [:]
        #expect(try Pattern("[<x>]").matches(["t"], &values))
        #expect(Pattern.fill(#"{"v":<x>,"s":"<x>"}"#, values) == #"{"v":"t","s":"<x>"}"#)
        #expect(Pattern.fill("<unknown>", values) == nil)
    }

    @Test("Omitted parts may be present or absent")
    func more() throws {
        #expect(try matches(#"{"a":1,…}"#, #"{"a":1,"b":2}"#))
        #expect(try matches(#"{…}"#, "{}"))
        #expect(try !matches(#"{"a":1,…}"#, #"{"a":2,"b":2}"#))
        #expect(try matches("[1,3,…]", "[1,2,3,4]"))
        #expect(try !matches("[3,1,…]", "[1,2,3,4]"))
        #expect(try !matches("[…]", "{}"))
        #expect(try matches(#"{"text":"…"}"#, #"{"text":"…"}"#))
        #expect(try !matches(#"{"text":"…"}"#, #"{"text":"more"}"#))
    }
}
