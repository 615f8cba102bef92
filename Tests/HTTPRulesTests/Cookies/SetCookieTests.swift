import HTTPRules
import TestSupport
import Testing

@Suite struct SetCookieTests {
    private func read(_ line: String) throws -> SetCookie { try SetCookie(line: Array(line.utf8)) }

    @Test(
        "Name and value are split at the first equals sign and trimmed",
        arguments: [
            ("a=b", "a", "b"), (" a\t= b c ;x", "a", "b c"), ("a=", "a", ""), ("a", "", "a"), ("=a", "", "a"),
            ("a=b=c", "a", "b=c"),
            ("==a", "", "=a"), ("\"a\"=\"b;c\"", "\"a\"", "\"b"), ("a\tb=c", "a\tb", "c"), ("ä=ö", "ä", "ö"),
        ]) func pairs(line: String, name: String, value: String) throws
    {
        let cookie = try read(line)
        #expect(cookie.name == Array(name.utf8) && cookie.value == Array(value.utf8))
    }

    @Test("Attributes are read in any letter case, with spaces around them") func attributes() throws {
        let cookie = try read(
            "a=b; SECURE = x;httponly;; Path= /x ;domain=.Example.COM;SameSite=STRICT; partitioned ;unknown=1")
        #expect(
            cookie.secure && cookie.httpOnly && cookie.partitioned && cookie.sameSite == .strict && cookie.path == "/x")
        #expect(try cookie.domain == .host(Host("example.com")))
    }

    @Test("The last of a repeated attribute counts") func repetition() throws {
        let cookie = try read(
            "a=b; Path=/x; Path=/y; SameSite=Lax; SameSite=None; Max-Age=1; Max-Age=2; Domain=a.b; Domain=c.d")
        #expect(cookie.path == "/y" && cookie.sameSite == .none && cookie.maxAge == 2)
        #expect(try cookie.domain == .host(Host("c.d")))
        let emptied = try read(
            "a=b; Path=/x; Path=; Domain=a.b; Domain=; SameSite=Lax; SameSite=other; Max-Age=1; Max-Age=x")
        #expect(emptied.path == nil && emptied.domain == .none && emptied.sameSite == .unset && emptied.maxAge == 1)
    }

    @Test(
        "An invalid domain is unreadable",
        arguments: ["..a.b", "a..b", "a.b.", ".", "a b", "a.b:80", "\"a.b\"", "ü.b", "0x7f.1", "%41.b", "[::1"])
    func domains(text: String) throws { #expect(try read("a=b; Domain=\(text)").domain == .unreadable) }

    @Test(
        "Max-Age has digits only, and is limited if it is too large",
        arguments: [
            ("1", 1), ("-1", -1), ("0", 0), ("+1", nil), ("", nil), ("-", nil), ("1.5", nil), ("1 ", 1), ("0x1", nil),
            ("--1", nil),
            (String(repeating: "9", count: 400), .max), ("-" + String(repeating: "9", count: 400), -.max),
            ("9223372036854775807", .max), ("9223372036854775808", .max),
        ] as [(String, Int64?)]) func maxAge(text: String, expected: Int64?) throws
    { #expect(try read("a=b; Max-Age=\(text)").maxAge == expected) }

    @Test("Max-Age takes precedence over Expires, and both end after 400 days at most") func ends() throws {
        let latest = now.after(400 * 86400)
        #expect(try read("a=b").end(at: now) == nil)
        #expect(try read("a=b; Max-Age=5; Expires=Thu, 01 Jan 1970 00:00:00 GMT").end(at: now) == now.after(5))
        #expect(try read("a=b; Expires=Fri, 01 Jan 2100 00:00:00 GMT; Max-Age=0").end(at: now)?.seconds == .min)
        #expect(try read("a=b; Max-Age=99999999999999999999").end(at: now) == latest)
        #expect(try read("a=b; Expires=Fri, 31 Dec 9999 23:59:59 GMT").end(at: now) == latest)
        #expect(try read("a=b; Max-Age=5; Max-Age=x").end(at: now) == now.after(5))
        #expect(try read("a=b; Expires=never").end(at: now) == nil)
    }

    @Test("The end of a cookie is computed for any time of the clock") func clocks() throws {
        for seconds in [Int64.min, -1_000_000_000, 7_300_000_000, .max] {
            let line = try read("a=b; Max-Age=\(Int64.max)")
            #expect(try #require(line.end(at: UnixTime(seconds: seconds))).seconds >= seconds)
            #expect(try read("a=b; Expires=Fri, 31 Dec 9999 23:59:59 GMT").end(at: UnixTime(seconds: seconds)) != nil)
        }
    }

    @Test("A control character other than the tab refuses the line") func controls() throws {
        for byte in (0...0x1F as ClosedRange<UInt8>) where byte != 9 {
            #expect(throws: CookieRefusal.self) {
                try SetCookie(line: Array("a=b".utf8) + [byte] + Array("c; Path=/".utf8))
            }
            #expect(throws: CookieRefusal.self) { try SetCookie(line: Array("a=b; x".utf8) + [byte]) }
        }
        #expect(throws: CookieRefusal.self) { try SetCookie(line: Array("a=b\u{7F}".utf8)) }
        #expect(try read("a=b\tc").value == Array("b\tc".utf8))
    }

    @Test("A line needs a name or a value", arguments: ["", "=", " ", "; Path=/", " = ;x", ";"]) func empty(
        line: String
    ) {
        #expect(throws: CookieRefusal.self) { try SetCookie(line: Array(line.utf8)) }
    }

    @Test("Name and value have 4,096 bytes at most, an attribute 1,024") func sizes() throws {
        #expect(try read("a=\(String(repeating: "b", count: 4095))").value.count == 4095)
        #expect(throws: CookieRefusal.self) { try read("a=\(String(repeating: "b", count: 4096))") }
        #expect(try read("a=b; Path=/\(String(repeating: "b", count: 1023))").path?.utf8.count == 1024)
        #expect(try read("a=b; Path=/\(String(repeating: "b", count: 1024)); Secure").path == nil)
        #expect(throws: CookieRefusal.self) { try read("a=b" + String(repeating: ";", count: 65536)) }
        #expect(try read("a=b" + String(repeating: ";x=y", count: 10_000) + "; Secure").secure)
        #expect(try read("a=b" + String(repeating: ";Max-Age=1", count: 6_500)).maxAge == 1)
    }

    @Test("A path keeps its bytes") func pathBytes() throws {
        let line = try SetCookie(line: Array("a=b; Path=/".utf8) + [0xE4, 0xFF])
        #expect(line.path == "/\u{E4}\u{FF}")
    }

    @Test("A cookie's line is read as the same cookie", arguments: 0..<20 as Range<UInt64>) func lines(seed: UInt64)
        throws
    {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            var cookie = randomCookie(&random)
            do { cookie = try CookieAdmission.check(cookie, suffixes: suffixes, at: now) } catch { continue }
            var context = try CookieContext("https://\(cookie.hostOnly ? "" : "x.")\(cookie.host.text)/")
            context.topLevelSite = suffixes.site(of: try WebOrigin("https://top.example"))
            let scope = CookieScope(context, suffixes: suffixes)
            let line = try SetCookie(line: SetCookie.line(of: cookie))
            var read = try CookieAdmission.admit(line, in: scope, at: now, beside: [])
            read.sourceSecure = false
            #expect(read == cookie)
        }
    }

    @Test("Mutated lines never trap, and accepted cookies are read back", arguments: 0..<20 as Range<UInt64>)
    func mutations(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let seeds = [
            "__Host-a=b; Path=/; Secure; HttpOnly; SameSite=None; Partitioned; Max-Age=60",
            "a=b; Expires=Fri, 07 Aug 2026 08:04:19 GMT; Domain=.example.com; Path=/x/y",
            "=a; Domain=; Path=; Max-Age=-1",
        ]
        let scope = CookieScope(try CookieContext("https://www.example.com/x/y"), suffixes: suffixes)
        for _ in 0..<500 {
            let bytes = random.mutate(
                Array(seeds.randomElement(using: &random)!.utf8), changes: 1...8,
                alphabet: Array("=;, \t/.-".utf8) + [0, 0x80, 0xFF])
            guard let line = try? SetCookie(line: bytes),
                let cookie = try? CookieAdmission.admit(line, in: scope, at: now, beside: [])
            else { continue }
            // An expired cookie is not stored. The line of any other is read as the same cookie.
            guard !cookie.isExpired(at: now) else { continue }
            let again = try SetCookie(line: SetCookie.line(of: cookie))
            var readAgain = try CookieAdmission.admit(again, in: scope, at: now, beside: [])
            readAgain.expires = cookie.expires
            #expect(readAgain == cookie)
            #expect(try CookieAdmission.check(cookie, suffixes: suffixes, at: now) == cookie)
        }
    }
}

/// Returns a random cookie. A line could set most of these cookies.
func randomCookie(_ random: inout SeededGenerator) -> Cookie {
    let names = ["a", "", "__Host-a", "__Secure-b", "__Host-Http-c", "a b", "ä", "a\tb"]
    let values = ["", "b", "a=b", "\"x\"", "__Host-", "ü y"]
    let hosts = ["example.com", "a.example.com", "co.uk", "127.0.0.1", "[::1]", "localhost"]
    var cookie = Cookie(
        name: Array(names.randomElement(using: &random)!.utf8),
        value: Array(values.randomElement(using: &random)!.utf8),
        host: try! Host(hosts.randomElement(using: &random)!), hostOnly: Bool.random(using: &random),
        path: ["/", "/x", "/x/", "/\u{E4}"].randomElement(using: &random)!, created: now)
    cookie.expires = Bool.random(using: &random) ? now.after(Int64.random(in: 1...1_000_000, using: &random)) : nil
    cookie.secure = Bool.random(using: &random)
    cookie.httpOnly = Bool.random(using: &random)
    cookie.sameSite = SameSite(rawValue: Int.random(in: 0...3, using: &random)) ?? .unset
    cookie.partition = cookie.secure && Bool.random(using: &random) ? "https://top.example" : ""
    return cookie
}
