import BridgeJSON
import Testing

@Suite("Patterns, as examples are written")
struct PatternTests {
    private func matches(_ pattern: String, _ message: String) throws -> Bool {
        var values: Pattern.Values = [:]
        return try Pattern(pattern).matches(JSON(parsing: message), &values)
    }

    @Test("A message fits its own text, whatever the order of its members, and no other")
    func exact() throws {
        #expect(try matches(#"{"a":1,"b":[true,null]}"#, #"{"b":[true,null],"a":1}"#))
        #expect(try !matches(#"{"a":1}"#, #"{"a":1,"b":2}"#))
        #expect(try !matches(#"{"a":1,"b":2}"#, #"{"a":1}"#))
        #expect(try !matches(#"{"a":1.0}"#, #"{"a":1}"#))
        #expect(try !matches("[1,2]", "[2,1]"))
    }

    @Test("A name takes any value, and stands for it from then on")
    func names() throws {
        #expect(try matches(#"{"a":<x>,"b":<x>}"#, #"{"a":"t","b":"t"}"#))
        #expect(try !matches(#"{"a":<x>,"b":<x>}"#, #"{"a":"t","b":"u"}"#))
        var values: Pattern.Values = [:]
        #expect(try Pattern("[<x>]").matches(["t"], &values))
        #expect(Pattern.fill(#"{"v":<x>,"s":"<x>"}"#, values) == #"{"v":"t","s":"<x>"}"#)
        #expect(Pattern.fill("<unknown>", values) == nil)
    }

    @Test("What is not shown may be there or not")
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
