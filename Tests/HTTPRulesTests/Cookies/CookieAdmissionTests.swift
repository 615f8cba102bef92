import HTTPRules
import Testing

@Suite struct CookieAdmissionTests {
    /// Returns the reason for which a line is refused; `nil` if it is accepted.
    private func reason(_ line: String, from url: String = "https://www.example.com/x/y") throws -> String? {
        var jar = CookieJar()
        return jar.put(line, try CookieContext(url)).reason
    }

    @Test(
        "A domain must be the host or a parent domain of it, and not a public suffix",
        arguments: [
            ("example.com", nil), (".www.example.com", nil), ("WWW.example.com", nil), ("com", "public_suffix"),
            ("other.com", "domain"), ("a.www.example.com", "domain"), ("ample.com", "domain"),
            ("www.example.com.", "domain"),
            ("1.2.3.4", "domain"), ("..", "domain"),
        ] as [(String, String?)]) func domains(domain: String, expected: String?) throws
    { #expect(try reason("a=b; Domain=\(domain)") == expected) }

    @Test("A public suffix or an address may set cookies only for itself") func suffixHosts() throws {
        var jar = CookieJar()
        for host in ["co.uk", "127.0.0.1", "[::1]", "localhost", "unknown"] {
            let domain = host.hasPrefix("[") ? "a=b" : "a=b; Domain=\(host)"
            let outcome = jar.put(domain, try CookieContext("https://\(host)/"))
            #expect(try outcome.get().hostOnly)
        }
        #expect(try reason("a=b; Domain=co.uk", from: "https://shop.co.uk/") == "public_suffix")
        #expect(try reason("a=b; Domain=2.3.4", from: "https://1.2.3.4/") == "domain")
    }

    @Test(
        "A name prefix requires its attributes, in any letter case",
        arguments: [
            ("__Secure-a=b", "prefix"), ("__secure-a=b; Secure", nil), ("__Host-a=b; Secure", "prefix"),
            ("__Host-a=b; Secure; Path=/", nil), ("__HOST-a=b; Path=/", "prefix"),
            ("__Host-a=b; Secure; Path=/x", "prefix"),
            ("__Host-a=b; Secure; Path=/; Domain=www.example.com", "prefix"), ("__Http-a=b; Secure", "prefix"),
            ("__Http-a=b; HttpOnly", "prefix"), ("__http-a=b; Secure; HttpOnly", nil),
            ("__Host-Http-a=b; Secure; Path=/", "prefix"),
            ("__Host-Http-a=b; Secure; Path=/; HttpOnly", nil), ("__Host-Http-a=b; Secure; HttpOnly", "prefix"),
            ("=__Host-a; Secure; Path=/", "prefix"), ("__Secure-", "prefix"), ("=__HTTP-a=b", "prefix"),
            ("=__host-http-", "prefix"),
            ("__Hosta=b", nil), ("a__Host-=b", nil), ("=__Hos", nil),
        ] as [(String, String?)]) func prefixes(line: String, expected: String?) throws
    { #expect(try reason(line) == expected, "\(line)") }

    @Test("The prefix __Host- requires an explicit path, even if it is the default") func hostPath() throws {
        #expect(try reason("__Host-a=b; Secure", from: "https://example.com/") == "prefix")
    }

    @Test("Secure requires a secure connection; SameSite=None and Partitioned require Secure") func secure() throws {
        #expect(try reason("a=b; Secure", from: "http://example.com/") == "secure")
        #expect(try reason("a=b; SameSite=None") == "secure")
        #expect(try reason("a=b; SameSite=None; Secure") == nil)
        #expect(try reason("a=b; Partitioned") == "secure")
    }

    @Test("An insecure connection cannot set a cookie that hides a Secure one") func leaveSecureAlone() throws {
        var jar = CookieJar()
        jar.put("a=1; Secure; Path=/login; Domain=example.com", try CookieContext("https://www.example.com/"))
        let insecure = try CookieContext("http://www.example.com/")
        #expect(jar.put("a=2; Path=/login", insecure).reason == "secure")
        #expect(jar.put("a=2; Path=/login/en", insecure).reason == "secure")
        #expect(jar.put("a=2; Path=/login; Domain=example.com", insecure).reason == "secure")
        #expect(jar.put("a=2; Path=/login; Max-Age=0; Domain=example.com", insecure).reason == "secure")
        #expect(jar.put("a=2; Path=/", insecure).reason == nil)
        #expect(jar.put("a=2; Path=/loginx", insecure).reason == nil)
        #expect(jar.put("b=2; Path=/login", insecure).reason == nil)
        #expect(try jar.put("a=3; Path=/login", CookieContext("http://other.com/")).reason == nil)
        #expect(try jar.put("a=3; Path=/login", CookieContext("https://www.example.com/")).reason == nil)
    }

    @Test("A script neither sets nor replaces HttpOnly cookies") func httpOnly() throws {
        var jar = CookieJar()
        let context = try CookieContext("https://example.com/")
        jar.put("a=1; HttpOnly", context)
        #expect(jar.put("a=2", context.script).reason == "http_only")
        #expect(jar.put("a=2; Max-Age=0", context.script).reason == "http_only")
        #expect(jar.put("b=2; HttpOnly", context.script).reason == "http_only")
        #expect(jar.put("a=2; Path=/x", context.script).reason == nil)
        #expect(jar.header(context) == "a=1")
    }

    @Test("A cross-site request sets only SameSite=None cookies; a navigation sets all") func sameSite()
        throws
    {
        var jar = CookieJar()
        let url = "https://example.com/"
        let other = try CookieContext(url, from: "https://evil.example/")
        for line in ["a=b", "a=b; SameSite=Lax", "a=b; SameSite=Strict"] {
            #expect(jar.put(line, other).reason == "same_site")
        }
        #expect(jar.put("a=b; SameSite=None; Secure", other).reason == nil)
        let link = try CookieContext(url, from: "https://evil.example/", navigation: true, method: "POST")
        #expect(jar.put("a=b; SameSite=Strict", link).reason == nil)
        #expect(jar.put("a=b; SameSite=Strict", link.script).reason == "same_site")
    }

    @Test("Malformed and oversized lines are refused") func invalid() throws {
        #expect(try reason("a=b\u{1}") == "invalid")
        #expect(try reason("=") == "invalid")
        #expect(try reason("a=\(String(repeating: "b", count: 4096))") == "too_large")
        let path = "https://example.com/\(String(repeating: "x", count: 1024))/"
        #expect(try reason("a=b", from: path) == "too_large" && reason("a=b; Path=/", from: path) == nil)
    }

    @Test("A cookie that is set without a line follows the same rules") func structured() throws {
        var jar = CookieJar()
        let base = Cookie(name: [0x61], value: [0x62], host: try Host("example.com"), created: now)
        func reason(_ change: (inout Cookie) throws -> Void) throws -> String? {
            var cookie = base
            try change(&cookie)
            do {
                try jar.set(cookie, at: now)
                return nil
            } catch { return error.reason.name }
        }
        #expect(try reason { _ in } == nil)
        #expect(try reason { $0.name = Array("a=".utf8) } == "invalid")
        #expect(try reason { $0.value = Array("a;".utf8) } == "invalid")
        #expect(try reason { $0.value = Array(" a".utf8) } == "invalid")
        #expect(try reason { $0.value = [13] } == "invalid")
        #expect(try reason { ($0.name, $0.value) = ([], []) } == "invalid")
        #expect(try reason { $0.path = "x" } == "invalid")
        #expect(try reason { $0.path = "/;" } == "invalid")
        #expect(try reason { $0.path = "/\u{100}" } == "invalid")
        #expect(try reason { $0.path = "/" + String(repeating: "x", count: 1024) } == "too_large")
        let site = "https://\(String(repeating: "x", count: 1024))"
        #expect(try reason { ($0.partition, $0.secure) = (site, true) } == "too_large")
        #expect(try reason { ($0.host, $0.hostOnly) = (try Host("co.uk"), false) } == "public_suffix")
        #expect(try reason { ($0.host, $0.hostOnly) = (try Host("1.2.3.4"), false) } == "domain")
        #expect(try reason { $0.sameSite = .none } == "secure")
        #expect(try reason { $0.partition = "https://a.example" } == "secure")
        #expect(try reason { $0.name = Array("__Host-a".utf8) } == "prefix")
        #expect(try reason { $0.expires = UnixTime(seconds: .max) } == nil)
        #expect(jar.all.map(\.cookie.expires) == [now.after(400 * 86400)])
    }
}
