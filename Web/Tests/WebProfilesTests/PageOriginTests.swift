import Testing
import WebProfiles

@Suite("Origins of pages") struct PageOriginTests {
    @Test(
        "an origin has one text, whatever its default port and its capitals",
        arguments: [
            ("https://A.example:443", "https://a.example"), ("http://a.example:80", "http://a.example"),
            ("http://a.example:8080", "http://a.example:8080"), ("http://127.0.0.1:1", "http://127.0.0.1:1"),
            ("trestle://notes", "trestle://notes"),
        ])
    func canonical(text: String, canonical: String) throws {
        #expect(try PageOrigin(text).text == canonical)
    }

    @Test(
        "a text with a path, another scheme or an invalid form is refused",
        arguments: [
            "https://a.example/", "https://a.example/x", "a.example", "null", "", "file://", "data://x",
            "https://user@a.example", "trestle://", "trestle://Notes", "trestle://a/b", "trestle://a:1",
            "https://a.example#", "https://a.example?", "https://*.example",
        ])
    func refused(text: String) {
        #expect(throws: OriginRefusal.self) { try PageOrigin(text) }
    }

    @Test(
        "the origin of an address is its scheme, host and port",
        arguments: [
            ("https://a.example/b?c#d", "https://a.example"), ("https://a.example", "https://a.example"),
            ("https://user:word@a.example:1/b", "https://a.example:1"),
            ("https://a.example?x=https://b.example/", "https://a.example"),
            ("trestle://notes/index.html", "trestle://notes"),
        ])
    func ofAddress(uri: String, origin: String) {
        #expect(PageOrigin(ofURI: uri)?.text == origin)
    }

    @Test(
        "an opaque address has no origin",
        arguments: [
            "about:blank", "about:srcdoc", "data:text/html,https://a.example/", "blob:https://a.example/1", "file:///x",
            "javascript:'https://a.example/'", "", "https", "://a.example",
        ])
    func opaque(uri: String) {
        #expect(PageOrigin(ofURI: uri) == nil)
    }

    @Test("patterns contain the scheme and the host, and no port")
    func patterns() throws {
        #expect(try PageOrigin("http://a.example:8080").pattern == "http://a.example/*")
        #expect(try PageOrigin("trestle://notes").pattern == "trestle://notes/*")
    }
}
