import HTTPRules
import TestSupport
import Testing

@Suite struct CookieModelTests {
    private static let hosts = [
        "example.com", "www.example.com", "a.www.example.com", "other.com", "co.uk", "shop.co.uk", "127.0.0.1",
    ]
    private static let paths = ["/", "/x", "/x/y", "/x/y/z", "/xy"]

    private func line(_ random: inout SeededGenerator) -> NaiveCookieStore.Line {
        func chance(_ of: Int) -> Bool { Int.random(in: 0..<of, using: &random) == 0 }
        return NaiveCookieStore.Line(
            name: ["a", "b", "c", "__Host-d"].randomElement(using: &random)!,
            value: String(Int.random(in: 0...3, using: &random)),
            domain: chance(2) ? (Self.hosts + ["com"]).randomElement(using: &random)! : nil,
            path: chance(2) ? Self.paths.randomElement(using: &random)! : nil,
            maxAge: chance(2) ? [0, -1, 1, 5, 50].randomElement(using: &random)! : nil, secure: chance(2),
            httpOnly: chance(4),
            partitioned: chance(6),
            sameSite: chance(2) ? ["None", "Lax", "Strict"].randomElement(using: &random)! : nil)
    }

    private func request(_ random: inout SeededGenerator) -> NaiveCookieStore.Request {
        let pages = [
            "https://example.com", "http://example.com", "https://other.com", "https://shop.co.uk", "https://127.0.0.1",
        ]
        return NaiveCookieStore.Request(
            scheme: ["http", "https"].randomElement(using: &random)!, host: Self.hosts.randomElement(using: &random)!,
            path: Self.paths.randomElement(using: &random)!,
            page: Bool.random(using: &random) ? pages.randomElement(using: &random)! : nil,
            isLink: Bool.random(using: &random),
            isPost: Bool.random(using: &random), isScript: Int.random(in: 0..<5, using: &random) == 0)
    }

    private func context(_ request: NaiveCookieStore.Request) throws -> CookieContext {
        var context = try CookieContext("\(request.scheme)://\(request.host)\(request.path)")
        if let page = request.page {
            let site = suffixes.site(of: try WebOrigin(page))
            context.initiator = .site(site)
            context.topLevelSite = site
        }
        context.isNavigation = request.isLink
        context.method = request.isPost ? "POST" : "GET"
        context.isHTTP = !request.isScript
        return context
    }

    @Test(
        "A jar agrees with a naive store over 3,000 operations, and its content with its feed of changes",
        arguments: 0..<12 as Range<UInt64>)
    func agreement(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var naive = NaiveCookieStore(domainLimit: 6, limit: 14)
        var jar = CookieJar(suffixes: suffixes, limits: CookieLimits(domainCookies: 6, allCookies: 14))
        var follower: [Cookie.Key: Cookie] = [:]
        var known: UInt64 = 0
        var time: Int64 = 0
        for step in 0..<3000 {
            if Int.random(in: 0..<4, using: &random) == 0 { time += Int64.random(in: 1...4, using: &random) }
            let request = request(&random)
            let context = try context(request)
            if Bool.random(using: &random) {
                let line = line(&random)
                let expected = naive.put(line, request, time)
                let outcome = jar.put(line.text, context, at: UnixTime(seconds: time))
                try #require(outcome.reason == expected, "step \(step): \(line.text) \(request)")
            } else {
                let expected = naive.header(request, time)
                try #require(jar.header(context, at: UnixTime(seconds: time)) == expected, "step \(step): \(request)")
            }
            if Int.random(in: 0..<10, using: &random) == 0 {
                follow(try #require(jar.changes(since: known)), &follower)
                known = jar.version
                try #require(Set(follower.values.map { plain($0) }) == Set(jar.all.map { plain($0.cookie) }))
                try #require(follower.count == jar.count)
            }
        }
        let living = jar.all.filter { !$0.cookie.isExpired(at: UnixTime(seconds: time)) }
        #expect(living.count == naive.cookies.filter { $0.end.map { $0 > time } ?? true }.count)
    }

    private func follow(_ changes: [CookieChange], _ follower: inout [Cookie.Key: Cookie]) {
        for change in changes {
            switch change.kind {
            case .set(let cookie): follower[cookie.key] = cookie
            case .removed(let key, _): follower[key] = nil
            }
        }
    }

    /// Returns the cookie without the time of its last use, which is not a change.
    private func plain(_ cookie: Cookie) -> Cookie {
        var cookie = cookie
        cookie.accessed = cookie.created
        return cookie
    }
}
