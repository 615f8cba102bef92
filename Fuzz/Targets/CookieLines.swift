import HTTPRules

// Set-Cookie lines. The input: a byte that selects the setter of the cookies, and lines. A line that begins with a
// control character below 8 is set a day later than the one before.
//
// - A line becomes a cookie or is refused. A cookie belongs to the host or to a domain above it, has at most 4,096
//   bytes of name and value and no control characters, expires within 400 days, and is not HttpOnly if a script sets
//   it.
// - No more cookies are kept than the limits allow, and each only once.
// - The changes of the feed since any version, applied to the jar of that version, result in the current jar.
// - Dates are parsed to the same value after they were written.
func fuzzCookieLines(_ bytes: [UInt8]) throws(Violation) {
    var input = FuzzInput(bytes)
    let context = CookieSetter.all[Int(input.byte()) % CookieSetter.all.count].context
    let limits = CookieLimits(domainCookies: 3, allCookies: 5)
    var now = UnixTime(seconds: 1_800_000_000)
    var jar = CookieJar(suffixes: CookieSetter.suffixes, limits: limits)
    var replica: [Cookie.Key: Cookie] = [:]
    var known = jar.version
    while !input.isEmpty {
        var line = input.record()
        if let first = line.first, first < 8 {
            line.removeFirst()
            now.seconds += 86_400
        }
        if case .success(let cookie)? = jar.put([line], in: context, at: now).first {
            try checkCookie(cookie, of: context, at: now)
        }
        try require(jar.count <= limits.allCookies, "\(jar.count) cookies are kept")
        try follow(jar, &replica, &known)
        let header = jar.header(for: context, at: now)
        try require(!header.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }, "the header \(header.shown)")
    }
}

/// The setter of a cookie.
private struct CookieSetter: Sendable {
    var context: CookieContext

    // `!`: the system's list exists wherever libpsl is installed.
    static let suffixes = PublicSuffixList()!

    static let all: [CookieSetter] = [
        setter("https://www.shop.example/a/b"), setter("http://www.shop.example/"),
        setter("https://shop.example/", isHTTP: false), setter("http://127.0.0.1:8080/x"), setter("https://a.co.uk/"),
        setter("https://www.shop.example/", site: "https://other.example"),
    ]

    private static func setter(_ text: String, isHTTP: Bool = true, site: String? = nil) -> CookieSetter {
        // `!`: they are URLs.
        let url = try! WebURL(text)  // `try!`: as above
        var context = CookieContext(url: url)
        if let site {
            let other = suffixes.site(of: try! WebOrigin(site))  // `try!`: as above
            context = CookieContext(url: url, initiator: .site(other), topLevelSite: other)
        }
        context.isHTTP = isHTTP
        return CookieSetter(context: context)
    }
}

private func checkCookie(_ cookie: Cookie, of context: CookieContext, at now: UnixTime) throws(Violation) {
    let shown = "\(cookie.name.shown)=\(cookie.value.shown)"
    try require(
        cookie.hostOnly ? cookie.host == context.url.host : CookieMatch.domainMatches(context.url.host, cookie.host),
        "\(shown) is of \(cookie.host.text)")
    try require(cookie.name.count + cookie.value.count <= SetCookie.maximumPairBytes, "\(shown) is too long")
    try require(!(cookie.name + cookie.value).contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }, "\(shown) is a line")
    try require(!(cookie.name.isEmpty && cookie.value.isEmpty), "a cookie of nothing")
    try require(context.isHTTP || !cookie.httpOnly, "a script sets a HttpOnly cookie")
    try require(cookie.sameSite != .none || cookie.secure, "\(shown) goes to other sites, over http")
    try require(cookie.path.hasPrefix("/"), "\(shown) has the path \(cookie.path)")
    guard let end = cookie.expires else { return }
    try require(end <= CookieLifetime.latestEnd(at: now), "\(shown) ends at \(end.seconds)")
    if end.seconds > 0 {
        try require(CookieDate.read(CookieDate.write(end).utf8) == end, "the date \(CookieDate.write(end))")
    }
}

/// Applies the changes of the feed to a copy, and compares.
private func follow(
    _ jar: CookieJar, _ replica: inout [Cookie.Key: Cookie], _ known: inout UInt64
) throws(Violation) {
    guard let changes = jar.changes(since: known) else { throw Violation(description: "the feed is cut") }
    for change in changes {
        switch change.kind {
        case .set(let cookie): replica[cookie.key] = cookie
        case .removed(let key, _): replica[key] = nil
        }
    }
    known = jar.version
    let all = jar.all.map(\.cookie)
    try require(Set(all.map(\.key)).count == all.count, "a cookie is there twice")
    try require(all.count == replica.count, "the copy has \(replica.count) cookies, not \(all.count)")
    for cookie in all {
        try require(replica[cookie.key]?.isSame(as: cookie) == true, "the copy lacks \(cookie.name.shown)")
    }
}
