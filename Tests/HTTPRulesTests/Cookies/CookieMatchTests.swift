import HTTPRules
import Testing

@Suite struct CookieMatchTests {
    @Test(
        "A path matches the same path and the paths below it",
        arguments: [
            ("/", "/", true), ("/x", "/", true), ("/x", "/x", true), ("/x/", "/x", true), ("/x/y", "/x", true),
            ("/x/y", "/x/", true),
            ("/xy", "/x", false), ("/x", "/x/", false), ("/", "/x", false), ("/x//y", "/x/", true), ("/X", "/x", false),
        ]) func paths(path: String, cookiePath: String, matches: Bool)
    { #expect(CookieMatch.pathMatches(path, cookiePath) == matches) }

    @Test(
        "The default path is the URL's path up to its last slash",
        arguments: [("/", "/"), ("/x", "/"), ("/x/", "/x"), ("/x/y", "/x"), ("/x/y/", "/x/y"), ("//", "/"), ("", "/")])
    func defaultPath(path: String, expected: String) { #expect(CookieMatch.defaultPath(of: path) == expected) }

    @Test("A domain matches itself and the names below it; an address matches itself") func domains() throws {
        #expect(try CookieMatch.domainMatches(Host("a.example.com"), Host("example.com")))
        #expect(try CookieMatch.domainMatches(Host("example.com"), Host("example.com")))
        #expect(try !CookieMatch.domainMatches(Host("xexample.com"), Host("example.com")))
        #expect(try !CookieMatch.domainMatches(Host("example.com"), Host("a.example.com")))
        #expect(try CookieMatch.domainMatches(Host("1.2.3.4"), Host("1.2.3.4")))
    }

    @Test("Secure cookies are sent over https, and to loopback hosts if these are trusted") func secure() throws {
        var jar = CookieJar()
        jar.put("a=b; Secure", try CookieContext("https://example.com/"))
        #expect(try jar.header(CookieContext("http://example.com/")) == "")
        #expect(try jar.header(CookieContext("https://example.com:8443/")) == "a=b")
        for host in ["localhost", "a.localhost", "127.0.0.1", "[::1]", "[::ffff:127.1.2.3]"] {
            var context = try CookieContext("http://\(host)/")
            #expect(jar.put("l=1; Secure", context).reason == nil)
            #expect(jar.header(context) == "l=1")
            context.trustsLoopback = false
            #expect(jar.header(context) == "" && jar.put("l=1; Secure", context).reason == "secure")
        }
    }

    @Test("Scripts receive no HttpOnly cookies") func scripts() throws {
        var jar = CookieJar()
        let context = try CookieContext("https://example.com/")
        jar.put("a=b; HttpOnly", context)
        jar.put("c=d", context)
        #expect(jar.header(context.script) == "c=d")
        #expect(jar.header(context) == "a=b; c=d")
    }

    @Test(
        "A cross-site request carries SameSite=None cookies; a followed link also carries Lax and unset ones",
        arguments: [
            ("https://www.example.com/", false, "GET", "u=1; n=1; l=1; s=1"),
            ("https://evil.example/", false, "GET", "n=1"),
            ("https://evil.example/", true, "GET", "u=1; n=1; l=1"), ("https://evil.example/", true, "POST", "n=1"),
            ("https://evil.example/", true, "HEAD", "u=1; n=1; l=1"), ("http://www.example.com/", false, "GET", "n=1"),
            ("http://www.example.com/", true, "GET", "u=1; n=1; l=1"), ("https://evil.example/", true, "get", "n=1"),
        ]) func sameSite(page: String, navigation: Bool, method: String, header: String) throws
    {
        var jar = CookieJar()
        let own = try CookieContext("https://example.com/")
        for line in ["u=1", "n=1; SameSite=None; Secure", "l=1; SameSite=Lax", "s=1; SameSite=Strict"] {
            jar.put(line, own)
        }
        let context = try CookieContext("https://example.com/", from: page, navigation: navigation, method: method)
        #expect(jar.header(context) == header)
        var opaque = own
        opaque.initiator = .opaque
        #expect(jar.header(opaque) == "n=1")
        #expect(jar.header(own) == "u=1; n=1; l=1; s=1")
    }

    @Test("A partitioned cookie is sent only under its own top-level site") func partitions() throws {
        var jar = CookieJar()
        let a = try CookieContext("https://embedded.example/", from: "https://a.example/")
        let b = try CookieContext("https://embedded.example/", from: "https://b.example/")
        jar.put("p=a; Secure; SameSite=None; Partitioned", a)
        jar.put("p=b; Secure; SameSite=None; Partitioned", b)
        jar.put("q=1; Secure; SameSite=None", a)
        #expect(jar.header(a) == "p=a; q=1" && jar.header(b) == "p=b; q=1")
        #expect(try jar.header(CookieContext("https://embedded.example/")) == "q=1")
        #expect(jar.put("r=1; SameSite=None; Partitioned", a).reason == "secure")
    }

    @Test("Cookies with longer paths come first, then earlier ones") func order() throws {
        var jar = CookieJar()
        let context = try CookieContext("https://example.com/x/y")
        jar.put("a=1; Path=/", context, at: now)
        jar.put("b=1; Path=/x", context, at: now.after(1))
        jar.put("c=1; Path=/", context, at: now.after(-1))
        jar.put("d=1; Path=/", context, at: now)
        jar.put("a=2; Path=/", context, at: now.after(9))
        #expect(jar.header(context) == "b=1; c=1; a=2; d=1")
    }

    @Test("A cookie whose domain has become a public suffix is not sent") func newSuffix() throws {
        var cookie = Cookie(name: [0x61], value: [0x62], host: try Host("co.uk"), hostOnly: false, created: now)
        let scope = CookieScope(try CookieContext("https://shop.co.uk/"), suffixes: suffixes)
        #expect(!CookieMatch.goes(cookie, to: scope, at: now))
        cookie.host = try Host("shop.co.uk")
        #expect(CookieMatch.goes(cookie, to: scope, at: now))
    }

    @Test("A cookie without a name appears in the header as its value alone") func nameless() throws {
        var jar = CookieJar()
        let context = try CookieContext("https://example.com/")
        jar.put("v", context)
        jar.put("a=", context)
        jar.put("=w", context)
        #expect(jar.header(context) == "w; a=")
    }
}
