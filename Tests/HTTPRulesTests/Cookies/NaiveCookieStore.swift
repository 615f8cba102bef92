import HTTPRules

/// A second, naive implementation of the cookie rules: an array, strings, and no index. It contains only three public
/// suffixes.
struct NaiveCookieStore {
    struct Cookie: Hashable {
        var name, value, domain, path, partition: String
        var hostOnly, secure, httpOnly: Bool
        var sameSite: String
        var end: Int64?
        var created, used: Int64
        var place: Int
    }

    struct Line {
        var name, value: String
        var domain: String?
        var path: String?
        var maxAge: Int64?
        var secure, httpOnly, partitioned: Bool
        var sameSite: String?

        var text: String {
            var text = "\(name)=\(value)"
            if let domain { text += "; Domain=\(domain)" }
            if let path { text += "; Path=\(path)" }
            if let maxAge { text += "; Max-Age=\(maxAge)" }
            if secure { text += "; Secure" }
            if httpOnly { text += "; HttpOnly" }
            if partitioned { text += "; Partitioned" }
            if let sameSite { text += "; SameSite=\(sameSite)" }
            return text
        }
    }

    struct Request {
        var scheme, host, path: String
        /// The site of the page that sends the request; `nil` for a request of the user.
        var page: String?
        var isLink, isPost, isScript: Bool
    }

    let domainLimit, limit: Int
    var cookies: [Cookie] = []
    var place = 0

    static let suffixes = ["com", "uk", "co.uk"]

    static func isAddress(_ host: String) -> Bool { host.split(separator: ".").allSatisfy { Int($0) != nil } }

    /// Returns the registrable domain, or the host if there is none.
    static func registrable(_ host: String) -> String {
        if isAddress(host) || suffixes.contains(host) { return host }
        var labels = host.split(separator: ".")
        while !suffixes.contains(labels.dropFirst().joined(separator: ".")) { labels.removeFirst() }
        return labels.joined(separator: ".")
    }

    static func covers(_ domain: String, _ host: String) -> Bool {
        host == domain || (host.hasSuffix(".\(domain)") && !isAddress(host))
    }

    static func covers(path: String, _ request: String) -> Bool {
        request == path || (request.hasPrefix(path) && path.hasSuffix("/")) || request.hasPrefix("\(path)/")
    }

    static func site(_ request: Request) -> String { "\(request.scheme)://\(registrable(request.host))" }

    mutating func put(_ line: Line, _ request: Request, _ now: Int64) -> String? {
        cookies.removeAll { $0.end.map { $0 <= now } ?? false }
        let isSecure = request.scheme == "https" || request.host == "127.0.0.1"
        let isSameSite = request.page.map { $0 == Self.site(request) } ?? true
        var domain = request.host
        var hostOnly = true
        if let attribute = line.domain {
            if attribute == request.host {
                hostOnly = Self.isAddress(attribute) || Self.suffixes.contains(attribute)
            } else if !Self.covers(attribute, request.host) {
                return "domain"
            } else if Self.suffixes.contains(attribute) {
                return "public_suffix"
            } else {
                (domain, hostOnly) = (attribute, false)
            }
        }
        if line.secure, !isSecure { return "secure" }
        if line.httpOnly, request.isScript { return "http_only" }
        if line.sameSite != "None", !isSameSite, !request.isLink || request.isScript { return "same_site" }
        if line.sameSite == "None" || line.partitioned, !line.secure { return "secure" }
        if line.name.hasPrefix("__Host-"), !line.secure || !hostOnly || line.path != "/" { return "prefix" }
        var path = line.path ?? String(request.path[..<(request.path.lastIndex(of: "/") ?? request.path.startIndex)])
        if path.isEmpty { path = "/" }
        let partition = line.partitioned ? request.page ?? Self.site(request) : ""
        for old in cookies where old.name == line.name && old.partition == partition {
            if request.isScript, old.httpOnly, old.domain == domain, old.hostOnly == hostOnly, old.path == path {
                return "http_only"
            }
            // A cookie below a public suffix does not hide a cookie of the suffix.
            guard Self.registrable(old.domain) == Self.registrable(domain) else { continue }
            if !isSecure, old.secure, Self.covers(old.domain, domain) || Self.covers(domain, old.domain),
                Self.covers(path: old.path, path)
            {
                return "secure"
            }
        }
        place += 1
        var cookie = Cookie(
            name: line.name, value: line.value, domain: domain, path: path, partition: partition, hostOnly: hostOnly,
            secure: line.secure, httpOnly: line.httpOnly, sameSite: line.sameSite ?? "",
            end: line.maxAge.map { now + $0 },
            created: now, used: now, place: place)
        let same = cookies.firstIndex {
            $0.name == cookie.name && $0.domain == domain && $0.hostOnly == hostOnly && $0.path == path
                && $0.partition == partition
        }
        if let same {
            (cookie.created, cookie.place) = (cookies[same].created, cookies[same].place)
            cookies.remove(at: same)
        }
        if let maxAge = line.maxAge, maxAge <= 0 { return nil }
        cookies.append(cookie)
        shrink(domainLimit) { Self.registrable($0.domain) == Self.registrable(domain) }
        shrink(limit) { _ in true }
        return nil
    }

    /// Removes the cookies beyond a limit.
    private mutating func shrink(_ limit: Int, _ counts: (Cookie) -> Bool) {
        let all = cookies.filter(counts).sorted {
            ($0.secure ? 1 : 0, $0.used, $0.created, $0.place) < ($1.secure ? 1 : 0, $1.used, $1.created, $1.place)
        }
        let victims = Set(all.prefix(max(0, all.count - limit)))
        cookies.removeAll { victims.contains($0) }
    }

    mutating func header(_ request: Request, _ now: Int64) -> String {
        let isSecure = request.scheme == "https" || request.host == "127.0.0.1"
        let isSameSite = request.page.map { $0 == Self.site(request) } ?? true
        var found: [Cookie] = []
        for index in cookies.indices {
            let cookie = cookies[index]
            guard cookie.hostOnly ? cookie.domain == request.host : Self.covers(cookie.domain, request.host) else {
                continue
            }
            guard Self.covers(path: cookie.path, request.path), !cookie.secure || isSecure else { continue }
            guard !cookie.httpOnly || !request.isScript, cookie.end.map({ $0 > now }) ?? true else { continue }
            guard cookie.partition.isEmpty || cookie.partition == request.page ?? Self.site(request) else { continue }
            let isFollowed = request.isLink && !request.isPost && !request.isScript && cookie.sameSite != "Strict"
            guard cookie.sameSite == "None" || isSameSite || isFollowed else { continue }
            cookies[index].used = now
            found.append(cookie)
        }
        found.sort { (-$0.path.count, $0.created, $0.place) < (-$1.path.count, $1.created, $1.place) }
        return found.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }
}
