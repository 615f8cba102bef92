import HTTPRules
import Testing

@Suite struct CookieJarTests {
    @Test("A cookie that replaces one of the same key keeps the creation time and the owner's settings")
    func replacement() throws {
        var jar = CookieJar()
        let context = try CookieContext("https://example.com/")
        var cookie = try jar.put("a=1", context).get()
        cookie.persist = true
        cookie.pin = true
        try jar.set(cookie, at: now)
        jar.put("a=2; Secure", context, at: now.after(5))
        let stored = try #require(jar.cookie(cookie.key)).cookie
        #expect(stored.value == [0x32] && stored.created == now && stored.accessed == now.after(5))
        #expect(stored.persist && stored.pin && stored.secure && jar.count == 1)
    }

    @Test("A line with an expiry in the past removes the cookie") func removal() throws {
        var jar = CookieJar()
        let context = try CookieContext("https://example.com/")
        jar.put("a=1", context)
        jar.put("b=1", context)
        jar.put("a=; Max-Age=0", context)
        jar.put("b=; Expires=Thu, 01 Jan 1970 00:00:00 GMT", context)
        jar.put("c=; Max-Age=-5", context)
        #expect(jar.count == 0 && jar.all.isEmpty)
    }

    @Test("An expired cookie is not sent, and is removed") func expiry() throws {
        var jar = CookieJar()
        let context = try CookieContext("https://example.com/")
        jar.put("a=1; Max-Age=60", context)
        #expect(jar.header(context, at: now.after(59)) == "a=1")
        #expect(jar.header(context, at: now.after(60)) == "")
        let version = jar.version
        jar.removeExpired(at: now.after(60))
        #expect(jar.count == 0)
        #expect(
            jar.changes(since: version)?.map(\.kind).first.map {
                if case .removed(_, .expired) = $0 { true } else { false }
            } == true)
    }

    @Test("A clock that is set back or far ahead causes no trap") func clocks() throws {
        var jar = CookieJar()
        let context = try CookieContext("https://example.com/")
        for seconds in [Int64.max, 0, .min, -5_000_000_000, 10_000_000_000] {
            jar.put("a=\(seconds); Max-Age=\(Int64.max)", context, at: UnixTime(seconds: seconds))
            _ = jar.header(context, at: UnixTime(seconds: seconds))
            jar.removeExpired(at: UnixTime(seconds: seconds))
        }
    }

    @Test("Over the domain's limit, insecure cookies are removed first, then the least recently used")
    func domainLimit() throws {
        var jar = CookieJar(suffixes: suffixes, limits: CookieLimits(domainCookies: 3, allCookies: 100))
        let context = try CookieContext("https://example.com/")
        jar.put("s=1; Secure; Path=/s", context, at: now)
        jar.put("i=1; Path=/i", context, at: now.after(1))
        jar.put("j=1; Path=/j", context, at: now.after(2))
        _ = try jar.header(CookieContext("https://example.com/i"), at: now.after(3))
        jar.put("k=1; Path=/k", context, at: now.after(4))
        #expect(Set(jar.all.map(\.cookie.path)) == ["/s", "/i", "/k"])
        jar.put("t=1; Secure; Path=/t", context, at: now.after(5))
        jar.put("u=1; Secure; Path=/u", context, at: now.after(6))
        jar.put("v=1; Secure; Path=/v", context, at: now.after(7))
        #expect(Set(jar.all.map(\.cookie.path)) == ["/t", "/u", "/v"])
        try jar.put("o=1", CookieContext("https://other.com/"))
        #expect(jar.count == 4)
    }

    @Test("A jar holds at most 180 cookies of a domain and 3,300 in all") func limits() throws {
        var jar = CookieJar()
        for domain in 0..<19 {
            for index in 0..<(domain == 18 ? 65 : domain == 0 ? 183 : 180) {
                let context = try CookieContext("https://h\(index).d\(domain).com/")
                jar.put("a\(index)=1", context, at: now.after(Int64(domain)))
            }
        }
        #expect(jar.count == 3300 && jar.all.count == 3300)
        #expect(jar.all.filter { $0.cookie.created == now }.count == 175)
        #expect(jar.all.filter { $0.cookie.created == now.after(1) }.count == 180)
    }

    @Test("Pinned cookies are removed last") func pinned() throws {
        var jar = CookieJar(suffixes: suffixes, limits: CookieLimits(domainCookies: 1, allCookies: 1))
        var cookie = Cookie(name: [0x61], value: [], host: try Host("example.com"), created: now)
        cookie.pin = true
        try jar.set(cookie, at: now)
        try jar.put("b=1; Secure", CookieContext("https://example.com/"), at: now.after(9))
        #expect(jar.all.map(\.cookie.name) == [[0x61]])
    }

    @Test("Setting an equal cookie is no change, and neither is sending it") func versions() throws {
        var jar = CookieJar()
        let context = try CookieContext("https://example.com/")
        jar.put("a=1", context)
        let version = jar.version
        jar.put("a=1", context, at: now.after(5))
        _ = jar.header(context, at: now.after(6))
        jar.put("c=1; Max-Age=0", context)
        #expect(jar.version == version && jar.changes(since: version) == [])
        #expect(jar.all[0].cookie.accessed == now.after(6))
    }

    @Test("The feed lists each change, and is nil for an unknown version") func feed() throws {
        var jar = CookieJar()
        let context = try CookieContext("https://example.com/")
        jar.put("a=1", context)
        jar.put("b=1", context)
        let cookies = jar.all.map(\.cookie)
        #expect(jar.delete(cookies[0].key) && !jar.delete(cookies[0].key))
        let changes = try #require(jar.changes(since: 0))
        #expect(changes.map(\.version) == [2, 3])
        #expect(changes[0].kind == .set(cookies[1]) && changes[1].kind == .removed(cookies[0].key, .deleted))
        #expect(jar.changes(since: 4) == nil && jar.changes(since: .max) == nil)
    }

    @Test("Deletion by a condition removes the matching cookies") func deleted() throws {
        var jar = CookieJar()
        let context = try CookieContext("https://example.com/")
        jar.put("a=1", context)
        jar.put("b=1", context, at: now.after(5))
        jar.put("c=1", context, at: now.after(9))
        #expect(jar.delete { $0.created > now } == 2)
        #expect(jar.header(context) == "a=1" && jar.changes(since: 3)?.count == 2)
    }

    @Test("Removals are recorded up to a limit") func bound() throws {
        var jar = CookieJar()
        let context = try CookieContext("https://example.com/")
        let key = Cookie.Key(host: context.url.host, hostOnly: true, path: "/", name: [0x61])
        for _ in 0..<25_000 {
            jar.put("a=1", context)
            jar.delete(key)
        }
        #expect(jar.changes(since: 0) == nil)
        #expect(jar.changes(since: jar.version - 20_000)?.count == 10_000)
        #expect(jar.changes(since: jar.version - 20_001) == nil)
    }

    @Test("A restored jar keeps the order and the versions of the stored cookies") func restored() throws {
        var jar = CookieJar()
        let context = try CookieContext("https://example.com/")
        jar.put("b=1", context)
        jar.put("a=1", context)
        let stored = jar.all.sorted { $0.version < $1.version }
        var other = CookieJar(suffixes: suffixes, stored: stored, version: 7)
        #expect(other.version == 7 && other.header(context) == "b=1; a=1" && other.changes(since: 7) == [])
        #expect(other.changes(since: 6) == nil)
        other.put("c=1", context)
        #expect(other.changes(since: 7)?.map(\.version) == [8])
    }

    @Test("Each line of a response has its own outcome") func outcomes() throws {
        var jar = CookieJar()
        let lines = ["a=1", "b=1; Domain=com", "a=2"].map { Array($0.utf8) }
        let outcomes = jar.put(lines, in: try CookieContext("https://example.com/"), at: now)
        #expect(outcomes.map(\.reason) == [nil, "public_suffix", nil])
        #expect(jar.all.map(\.cookie.value) == [[0x32]])
    }
}
