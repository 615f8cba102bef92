import HTTPRules
import TestSupport
import Testing

@Suite struct WebURLTests {
    @Test(
        "A URL has one canonical form",
        arguments: [
            ("http://example.com", "http://example.com/"), ("HTTPS://Example.COM:443/A", "https://example.com/A"),
            ("http://example.com:80", "http://example.com/"), ("http://example.com:", "http://example.com/"),
            ("https://example.com:80/", "https://example.com:80/"), ("http://a.example:0080/", "http://a.example/"),
            ("http://a/b/../c/./d", "http://a/c/d"), ("http://a/../../b", "http://a/b"), ("http://a/b/..", "http://a/"),
            ("http://a/b/%2e%2E/c", "http://a/c"), ("http://a/b/.%2e", "http://a/"),
            ("http://a/%2e%2e%2e", "http://a/%2e%2e%2e"),
            ("http://a//b///c", "http://a//b///c"), ("http://a//..//b", "http://a//b"),
            ("http://a/ b c", "http://a/%20b%20c"),
            ("http://a/ü?ü", "http://a/%C3%BC?%C3%BC"), ("http://a/%zz%", "http://a/%zz%"),
            ("http://a?b", "http://a/?b"),
            ("http://a/?", "http://a/?"), ("http://a/?a=\"<>'#x", "http://a/?a=%22%3C%3E%27"),
            ("http://a/?x[]=1|2`{}", "http://a/?x[]=1|2`{}"), ("http://a/^{}`", "http://a/%5E%7B%7D%60"),
            ("http://a/?\\", "http://a/?%5C"), ("http://[::1]:8080/", "http://[::1]:8080/"),
            ("http://bücher.example/", "http://xn--bcher-kva.example/"), ("http://a./", "http://a/"),
            ("http://a/b?c/../d", "http://a/b?c/../d"), ("http://a/@b:c", "http://a/@b:c"),
        ]) func canonical(text: String, expected: String) throws
    {
        let url = try WebURL(text)
        #expect(url.text == expected)
        #expect(try WebURL(url.textWithFragment) == url)
    }

    @Test("The fragment is separate from the text") func fragment() throws {
        let url = try WebURL("http://a/b?c#d e#f")
        #expect(url.text == "http://a/b?c" && url.fragment == "d%20e%23f" && url.query == "c" && url.path == "/b")
        #expect(try WebURL("http://a/#").fragment?.isEmpty == true && WebURL("http://a/").fragment == nil)
    }

    @Test(
        "A URL that two parsers could read differently is refused, with the reason",
        arguments: [
            ("http://user@a/", "user_information"), ("http://user:pass@a/", "user_information"),
            ("http://@a/", "user_information"),
            ("http://a.example\\@evil.example/", "backslash"), ("http://a.example\\evil/", "backslash"),
            ("http://a/b\\c", "backslash"), ("http:\\\\a/", "form"), ("http:a", "form"), ("http:/a", "form"),
            ("http:///a", "host"), ("http://", "host"), ("http://:80/", "host"), ("http://?", "host"),
            ("ftp://a/", "scheme"),
            ("//a/", "scheme"), ("a", "scheme"), ("", "scheme"), ("javascript:alert(1)", "scheme"),
            ("httpss://a/", "scheme"),
            ("http://a\t.b/", "control_character"), ("http://a/\n", "control_character"),
            ("ht\ntp://a/", "control_character"),
            ("http://a/\u{7F}", "control_character"), ("http://a b/", "space"), (" http://a/", "space"),
            ("http://a/ ", "space"),
            ("http://a:b/", "port"), ("http://a:65536/", "port"), ("http://a:0/", "port"), ("http://a:-1/", "port"),
            ("http://a:80:80/", "port"), ("http://a:99999999999999999999999/", "port"), ("http://[::1]x/", "form"),
            ("http://[::1/", "address"), ("http://%61/", "percent_encoding"), ("http://0x7f.1/", "address"),
            ("http://2130706433/", "address"), ("http://①②⑦.0.0.1/", "address"), ("http://a／b/", "character"),
            ("http://a＠b/", "character"), ("http://a%00b/", "percent_encoding"), ("http://a:８０/", "port"),
        ]) func refusals(text: String, reason: String)
    { #expect(refusal { try WebURL(text) }?.reason.name == reason, "\(text)") }

    @Test("A URL has at most 8 KiB, as written and in canonical form") func size() throws {
        let path = String(repeating: "a", count: WebURL.maximumBytes - 9)
        #expect(try WebURL("http://a/\(path)").text.utf8.count == WebURL.maximumBytes)
        #expect(refusal { try WebURL("http://a/\(path)b") }?.reason == .tooLong)
        #expect(refusal { try WebURL("http://a/\(String(repeating: " x", count: 2500))") }?.reason == .tooLong)
        let dots = String(repeating: "../", count: 2700)
        #expect(try WebURL("http://a/\(dots)b").text == "http://a/b")
    }

    @Test(
        "References are resolved as in the examples of RFC 3986",
        arguments: [
            ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("?y", "/b/c/d;p?y"),
            ("g?y", "/b/c/g?y"),
            ("#s", "/b/c/d;p?q#s"), ("g#s", "/b/c/g#s"), ("g?y#s", "/b/c/g?y#s"), (";x", "/b/c/;x"),
            ("g;x", "/b/c/g;x"),
            ("g;x?y#s", "/b/c/g;x?y#s"), ("", "/b/c/d;p?q"), (".", "/b/c/"), ("./", "/b/c/"), ("..", "/b/"),
            ("../", "/b/"),
            ("../g", "/b/g"), ("../..", "/"), ("../../", "/"), ("../../g", "/g"), ("../../../g", "/g"), ("/./g", "/g"),
            ("/../g", "/g"), ("g.", "/b/c/g."), (".g", "/b/c/.g"), ("g..", "/b/c/g.."), ("..g", "/b/c/..g"),
            ("./../g", "/b/g"), ("./g/.", "/b/c/g/"), ("g/./h", "/b/c/g/h"), ("g/../h", "/b/c/h"),
            ("g;x=1/./y", "/b/c/g;x=1/y"), ("g;x=1/../y", "/b/c/y"), ("g?y/./x", "/b/c/g?y/./x"),
            ("g#s/../x", "/b/c/g#s/../x"),
        ]) func references(reference: String, expected: String) throws
    { #expect(try WebURL("http://a/b/c/d;p?q").resolving(reference).textWithFragment == "http://a\(expected)") }

    @Test("A reference may name another host, and keeps the base's scheme if it has none") func hosts() throws {
        let base = try WebURL("https://a.example:8443/b?q#f")
        #expect(try base.resolving("//g").text == "https://g/")
        #expect(try base.resolving("http://g/x").text == "http://g/x")
        for (reference, reason) in [
            ("http:g", "form"), ("g:h", "scheme"), ("//u@g", "user_information"), ("\\\\g", "backslash"),
            ("/\\g", "backslash"), ("///g", "host"), ("g\u{0}", "control_character"), ("//127.1/", "address"),
        ] { #expect(refusal { try base.resolving(reference) }?.reason.name == reason, "\(reference)") }
        #expect(try base.resolving(bytes: [0x2F, 0xE4]).text == "https://a.example:8443/%E4")
    }

    @Test("Upgrading a URL changes only its scheme and the default port") func upgrades() throws {
        #expect(try WebURL("http://a/b?c#d").upgraded() == WebURL("https://a/b?c#d"))
        #expect(try WebURL("http://a:8080/").upgraded().text == "https://a:8080/")
        #expect(try WebURL("https://a:80/").upgraded().text == "https://a:80/")
    }

    @Test("A redirect keeps the base's fragment unless the location has one") func redirects() throws {
        let base = try WebURL("http://a/b#f")
        #expect(try base.redirected(to: Array("/c".utf8)).textWithFragment == "http://a/c#f")
        #expect(try base.redirected(to: Array("/c#g".utf8)).textWithFragment == "http://a/c#g")
        #expect(try base.redirected(to: Array("?x".utf8)).textWithFragment == "http://a/b?x#f")
    }

    @Test("The text of every accepted or resolved URL is read as an equal URL", arguments: 0..<20 as Range<UInt64>)
    func mutations(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let seeds = [
            "http://user:p@a.example:80/b/../c?d#e", "https://[2001:db8::1]:8443/%2e%2e/%zz?'\"",
            "HTTP://BÜCHER.example./ü^{}`",
        ]
        let base = try WebURL("https://a.example/x/y/?z")
        let alphabet = Array("/\\@:.?#[]%2e \"<>'`{}|^ü。".utf8)
        for _ in 0..<500 {
            let bytes = random.mutate(
                Array(seeds.randomElement(using: &random)!.utf8), changes: 1...6, alphabet: alphabet)
            for url in [try? WebURL(bytes: bytes), try? base.resolving(bytes: Array(bytes.dropFirst(6)))] {
                guard let url else { continue }
                #expect(try WebURL(url.textWithFragment) == url)
                #expect(try WebURL(url.text).text == url.text)
                #expect(url.textWithFragment.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x5C })
            }
        }
    }
}
