import HTTPRules
import TestSupport
import Testing

@Suite struct WebOriginTests {
    @Test(
        "An origin has one canonical form and is compared by its parts",
        arguments: [
            ("https://API.example", "https://api.example"), ("https://api.example:443", "https://api.example"),
            ("http://api.example:8080", "http://api.example:8080"), ("http://[::1]:80", "http://[::1]"),
        ]) func origins(text: String, canonical: String) throws
    {
        let origin = try WebOrigin(text)
        #expect(origin.text == canonical)
        #expect(try WebOrigin(canonical) == origin && WebURL("\(text)/x").origin == origin)
    }

    @Test(
        "An origin with a host in any script equals the one with A-labels",
        arguments: [
            ("https://bücher.example", "https://xn--bcher-kva.example"),
            ("https://BÜCHER.example:443", "https://xn--bcher-kva.example"),
            ("http://食狮.中国:8080", "http://xn--85x722f.xn--fiqs8s:8080"), ("http://[::1]:80", "http://[::1]"),
        ]) func international(text: String, canonical: String) throws
    { #expect(try WebOrigin(international: text) == WebOrigin(canonical)) }

    @Test(
        "An international origin with a path, user information, non-ASCII digits, NUL or no scheme is refused",
        arguments: ["https://ü.example/", "https://u@ü.example", "https://１２７.0.0.1", "https://ü\u{0}", "ü.example"])
    func internationalRefusals(text: String) { #expect(refusal { try WebOrigin(international: text) } != nil) }

    @Test("Origins that differ in scheme, host or port are not equal") func inequality() throws {
        let origin = try WebOrigin("https://a.example")
        for other in ["http://a.example", "https://b.example", "https://a.example:444", "http://a.example:443"] {
            #expect(try WebOrigin(other) != origin)
        }
    }

    @Test(
        "Text that is not exactly an origin is refused",
        arguments: [
            "https://a/", "https://a/b", "https://a?x", "https://a#x", "https://u@a", "null", "", "https://",
            "a.example",
            "https://*.example", "https://ü.example", "https://a\n", "https://a b",
            "https://\(String(repeating: "a", count: 400))",
        ]) func refusals(text: String)
    { #expect(refusal { try WebOrigin(text) } != nil) }

    @Test(
        "A pattern matches its origin, or with a wildcard the origins one or more labels below",
        arguments: [
            ("https://api.example", "https://api.example", true),
            ("https://api.example", "https://x.api.example", false),
            ("https://api.example", "https://api.example:444", false),
            ("https://api.example", "http://api.example", false),
            ("https://*.example.com", "https://a.example.com", true),
            ("https://*.example.com", "https://a.b.example.com", true),
            ("https://*.example.com", "https://example.com", false),
            ("https://*.example.com", "https://xexample.com", false),
            ("https://*.EXAMPLE.com:8443", "https://a.example.com:8443", true),
            ("https://*.example.com:8443", "https://a.example.com", false), ("http://[::1]:80", "http://[::1]", true),
        ]) func patterns(pattern: String, origin: String, matches: Bool) throws
    { #expect(try OriginPattern(pattern).matches(WebOrigin(origin)) == matches) }

    @Test(
        "Text that is not a pattern is refused",
        arguments: [
            "https://*", "https://*.", "https://a.*.example", "https://**.example", "https://*.127.0.0.1",
            "https://*.[::1]",
            "*.example.com", "https://*.example.com/", "https://*.ü.example", "https://*a.example", "ftp://*.example",
            "https://*.example:*", "https://*.2130706433",
        ]) func noPatterns(text: String)
    { #expect(refusal { try OriginPattern(text) } != nil) }

    @Test("A pattern's text is read as the same pattern") func text() throws {
        for text in ["https://*.example.com", "http://*.a.example:8080", "https://api.example"] {
            #expect(try OriginPattern(text).text == text)
        }
        #expect(try OriginPattern("HTTPS://*.Example.com:443").text == "https://*.example.com")
    }

    @Test("A mutated pattern matches its own origin only without a wildcard", arguments: 0..<10 as Range<UInt64>)
    func mutations(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let bytes = random.mutate(Array("https://*.example.com:8443".utf8), alphabet: Array("*.:/[]@%".utf8))
            guard let pattern = try? OriginPattern(String(decoding: bytes, as: UTF8.self)) else { continue }
            #expect(try OriginPattern(pattern.text) == pattern)
            #expect(pattern.matches(pattern.origin) == !pattern.isBelow)
        }
    }
}
