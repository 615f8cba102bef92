import HTTPRules
import TestSupport
import Testing

@Suite("Transactions of a cookie jar")
struct CookieTransactionTests {
    private struct GivenUp: Error {}

    private static let limits = CookieLimits(domainCookies: 4, allCookies: 12)

    /// Returns a jar after more random changes than it can hold.
    private func jar(_ generator: inout SeededGenerator) throws -> CookieJar {
        var jar = CookieJar(suffixes: try #require(PublicSuffixList()), limits: Self.limits)
        for step in 0..<40 { change(&jar, at: Int64(step), &generator) }
        return jar
    }

    /// Makes one random change.
    private func change(_ jar: inout CookieJar, at second: Int64, _ generator: inout SeededGenerator) {
        let now = UnixTime(seconds: 1_800_000_000 + second)
        let host = "h\(Int.random(in: 0..<6, using: &generator)).example"
        guard let parsed = try? Host(ascii: host) else { return }
        let name = Array("n\(Int.random(in: 0..<6, using: &generator))".utf8)
        var cookie = Cookie(
            name: name, value: Array("\(second)".utf8), host: parsed, hostOnly: true, path: "/", created: now)
        cookie.secure = Bool.random(using: &generator)
        cookie.pin = Int.random(in: 0..<8, using: &generator) == 0
        if Bool.random(using: &generator) {
            cookie.expires = UnixTime(seconds: now.seconds + Int64.random(in: 1..<30, using: &generator))
        }
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: jar.delete(cookie.key)
        case 1: jar.removeExpired(at: now)
        case 2:
            if let url = try? WebURL("https://\(host)/") { _ = jar.cookies(for: CookieContext(url: url), at: now) }
        default: _ = try? jar.set(cookie, at: now)
        }
    }

    /// Returns the whole observable state of a jar.
    private func state(_ jar: CookieJar) -> [CookieChange] {
        (jar.changes(since: jar.forgotten) ?? [])
            + jar.all.sorted { $0.version < $1.version }.map {
                CookieChange(version: $0.version, kind: .set($0.cookie))
            }
    }

    @Test("A failed transaction changes nothing, and does not affect later changes", arguments: 0..<60)
    func givenUp(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var jar = try jar(&generator)
        let before = jar
        // Uses of cookies are not undone, so this transaction makes none.
        #expect(throws: GivenUp.self) {
            try jar.transaction { jar throws(GivenUp) in
                for index in 0..<8 {
                    let now = UnixTime(seconds: 1_800_000_050)
                    guard let host = try? Host(ascii: "h\(index).example") else { continue }
                    _ = try? jar.set(
                        Cookie(name: [0x61], value: [], host: host, hostOnly: true, path: "/", created: now), at: now)
                    jar.delete { $0.host == host && $0.secure }
                    jar.removeExpired(at: now)
                }
                throw GivenUp()
            }
        }
        let isSame = state(jar) == state(before)
        #expect(isSame)
        #expect(jar.version == before.version && jar.count == before.count && jar.sizeBytes == before.sizeBytes)
        var (same, other) = (generator, before)
        for step in Int64(60)..<120 {
            change(&jar, at: step, &generator)
            change(&other, at: step, &same)
        }
        // Cookies that expire at the same time are removed in no particular order.
        let isAlike = Set(jar.all) == Set(other.all) && jar.version == other.version
        #expect(isAlike)
    }

    @Test("The changes that a transaction returns are those of the feed", arguments: 0..<60)
    func changes(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var jar = try jar(&generator)
        for round in 0..<10 {
            let before = jar.version
            let (_, changes) = jar.transaction { jar in
                for step in 0..<Int64(5) { change(&jar, at: 60 + Int64(round) * 5 + step, &generator) }
            }
            let isListed = changes == jar.changes(since: before)
            #expect(isListed)
        }
    }

    @Test("Used cookies are kept longer, also after many others were added and removed")
    func order() throws {
        var jar = CookieJar(
            suffixes: try #require(PublicSuffixList()), limits: CookieLimits(domainCookies: 9, allCookies: 3))
        func set(_ host: String, _ second: Int64) throws {
            let url = try WebURL("https://\(host)/")
            jar.put([Array("a=\(second)".utf8)], in: CookieContext(url: url), at: UnixTime(seconds: second))
        }
        func use(_ host: String, _ second: Int64) throws {
            let url = try WebURL("https://\(host)/")
            _ = jar.cookies(for: CookieContext(url: url), at: UnixTime(seconds: second))
        }
        func hosts() -> [String] { jar.all.map(\.cookie.host.text).sorted() }
        for (second, host) in ["a.example", "b.example", "c.example", "d.example"].enumerated() {
            try set(host, Int64(second))
        }
        #expect(hosts() == ["b.example", "c.example", "d.example"])
        try use("b.example", 10)
        try set("e.example", 11)
        #expect(hosts() == ["b.example", "d.example", "e.example"])
        // The clock was set back, so e is now the least recently used.
        try use("e.example", 2)
        try set("f.example", 12)
        #expect(hosts() == ["b.example", "d.example", "f.example"])
        for second in 20..<400 {
            try use("b.example", Int64(second))
            try set("g\(second).example", Int64(second))
            #expect(jar.count == 3 && hosts().contains("b.example"))
        }
    }
}
