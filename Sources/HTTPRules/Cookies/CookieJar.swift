/// Cookies in memory under the rules of this module: what a browser's profile holds. It keeps no clock: whoever asks
/// says the time.
///
/// Cookies lie by registrable domain, so that a request is compared with at most so many as one domain may have. Every
/// change has a version of its own, by which others can ask for what is new.
public struct CookieJar: Sendable {
    /// A cookie and the version in which it came to be as it is.
    public struct Stored: Hashable, Sendable {
        /// The cookie.
        public var cookie: Cookie
        /// The version.
        public var version: UInt64

        /// A stored cookie.
        ///
        /// - Parameters:
        ///   - cookie: The cookie.
        ///   - version: The version.
        public init(cookie: Cookie, version: UInt64) {
            self.cookie = cookie
            self.version = version
        }
    }

    /// A stored cookie and its place: how many were stored before it.
    struct Entry: Sendable {
        var stored: Stored
        let order: UInt64

        /// Whether it goes before another where there are too many.
        func goes(before other: Entry) -> Bool {
            CookieLimits.goes(stored.cookie, before: other.stored.cookie) ?? (order < other.order)
        }
    }

    /// The list of public suffixes.
    public let suffixes: PublicSuffixList
    /// How many cookies there may be.
    public let limits: CookieLimits
    /// The version of the last change.
    public private(set) var version: UInt64
    /// How many cookies there are, those included that have ended and are still there.
    public private(set) var count = 0
    /// The cookies by the text of their registrable domain, or of their host where it has none.
    private var domains: [String: [Entry]] = [:]
    private var order: UInt64 = 0
    private var removals: CookieRemovals

    /// A jar, empty or with what was kept elsewhere.
    ///
    /// - Parameters:
    ///   - suffixes: The list of public suffixes.
    ///   - limits: How many cookies there may be.
    ///   - stored: The cookies to begin with, in the order in which they were stored; of two with the same key the
    ///     later one stays.
    ///   - version: The version of the last change to them.
    public init(
        suffixes: PublicSuffixList, limits: CookieLimits = .standard, stored: [Stored] = [], version: UInt64 = 0
    ) {
        self.suffixes = suffixes
        self.limits = limits
        self.version = stored.reduce(version) { max($0, $1.version) }
        removals = CookieRemovals(forgotten: self.version)
        for stored in stored { restore(stored) }
        removals = CookieRemovals(forgotten: self.version)
    }

    private mutating func restore(_ stored: Stored) {
        let domain = domain(of: stored.cookie.host)
        if let index = index(of: stored.cookie.key, in: domain) {
            domains[domain]?[index].stored = stored
        } else {
            insert(stored, in: domain)
            evict(from: domain, at: UnixTime(seconds: .min))
        }
    }

    /// All cookies, in no order, those included that have ended and are still there.
    public var all: [Stored] { domains.values.flatMap { $0.map(\.stored) } }

    /// The cookie of a key; nil where there is none.
    ///
    /// - Parameter key: The key.
    public func cookie(_ key: Cookie.Key) -> Stored? {
        let domain = domain(of: key.host)
        return index(of: key, in: domain).flatMap { domains[domain]?[$0].stored }
    }
}

// MARK: Requests

extension CookieJar {
    /// The cookies that go to a request, or that a script sees, in their order. They count as used.
    ///
    /// - Parameters:
    ///   - context: The request or the script.
    ///   - now: The time.
    /// - Returns: The cookies.
    public mutating func cookies(for context: CookieContext, at now: UnixTime) -> [Cookie] {
        let scope = CookieScope(context, suffixes: suffixes)
        let domain = (scope.registrableDomain ?? scope.host).text
        guard let index = domains.index(forKey: domain) else { return [] }
        var found: [Entry] = []
        for place in domains.values[index].indices {
            guard CookieMatch.goes(domains.values[index][place].stored.cookie, to: scope, at: now) else { continue }
            domains.values[index][place].stored.cookie.accessed = now
            found.append(domains.values[index][place])
        }
        found.sort {
            CookieMatch.stands($0.stored.cookie, before: $1.stored.cookie) ?? ($0.order < $1.order)
        }
        return found.map(\.stored.cookie)
    }

    /// The value of the header `Cookie` for a request.
    ///
    /// - Parameters:
    ///   - context: The request.
    ///   - now: The time.
    /// - Returns: The bytes; empty where no header is sent.
    public mutating func header(for context: CookieContext, at now: UnixTime) -> [UInt8] {
        CookieMatch.header(cookies(for: context, at: now))
    }
}

// MARK: Changes

extension CookieJar {
    /// What became of a line.
    public typealias Outcome = Result<Cookie, CookieRefusal>

    /// Takes the `Set-Cookie` lines of an answer, or what a script sets, one after the other.
    ///
    /// - Parameters:
    ///   - lines: The values of the fields, in order.
    ///   - context: The request that was answered, or the script.
    ///   - now: The time.
    /// - Returns: What became of each line: the cookie, or why it was not taken.
    @discardableResult public mutating func put(
        _ lines: [[UInt8]], in context: CookieContext, at now: UnixTime
    ) -> [Outcome] {
        let scope = CookieScope(context, suffixes: suffixes)
        return lines.map { line in
            do throws(CookieRefusal) {
                return .success(try put(SetCookie(line: line), in: scope, at: now))
            } catch {
                return .failure(error)
            }
        }
    }

    private mutating func put(
        _ line: SetCookie, in scope: CookieScope, at now: UnixTime
    ) throws(CookieRefusal) -> Cookie {
        let domain = (scope.registrableDomain ?? scope.host).text
        removeExpired(from: domain, at: now)
        let neighbours = (domains[domain] ?? []).lazy.map(\.stored.cookie)
        var cookie = try CookieAdmission.admit(line, in: scope, at: now, beside: neighbours)
        if let old = self.cookie(cookie.key)?.cookie {
            // What its owner has decided about a cookie outlives its values.
            cookie.persist = old.persist
            cookie.pin = old.pin
        }
        return store(cookie, at: now)
    }

    /// Sets a cookie that no line made.
    ///
    /// - Parameters:
    ///   - cookie: The cookie; one of the same key keeps the time when it was first set.
    ///   - now: The time.
    /// - Returns: The cookie as it is stored.
    /// - Throws: The reason, where it is not taken.
    @discardableResult public mutating func set(
        _ cookie: Cookie, at now: UnixTime
    ) throws(CookieRefusal) -> Cookie {
        let cookie = try CookieAdmission.check(cookie, suffixes: suffixes, at: now)
        removeExpired(from: domain(of: cookie.host), at: now)
        return store(cookie, at: now)
    }

    /// Removes a cookie.
    ///
    /// - Parameter key: Its key.
    /// - Returns: Whether it was there.
    @discardableResult public mutating func delete(_ key: Cookie.Key) -> Bool {
        let domain = domain(of: key.host)
        guard let index = index(of: key, in: domain) else { return false }
        remove(index, from: domain, .deleted)
        return true
    }

    /// Removes the cookies that have ended.
    ///
    /// - Parameter now: The time.
    public mutating func removeExpired(at now: UnixTime) {
        for domain in Array(domains.keys) { removeExpired(from: domain, at: now) }
    }

    /// What has changed after a version, oldest first.
    ///
    /// - Parameter version: A version that this jar has had.
    /// - Returns: The changes; nil where the jar no longer knows them all, and who asks must begin anew.
    public func changes(since version: UInt64) -> [CookieChange]? {
        guard (removals.forgotten...self.version).contains(version) else { return nil }
        var changes = removals.since(version)
        for entries in domains.values {
            for entry in entries where entry.stored.version > version {
                changes.append(CookieChange(version: entry.stored.version, kind: .set(entry.stored.cookie)))
            }
        }
        return changes.sorted { $0.version < $1.version }
    }
}

// MARK: Storage

extension CookieJar {
    private func domain(of host: Host) -> String { (suffixes.registrableDomain(of: host) ?? host).text }

    private func index(of key: Cookie.Key, in domain: String) -> Int? {
        domains[domain]?.firstIndex { entry in
            let cookie = entry.stored.cookie
            return cookie.name == key.name && cookie.path == key.path && cookie.host == key.host
                && cookie.hostOnly == key.hostOnly && cookie.partition == key.partition
        }
    }

    /// Stores a cookie; one that has ended removes the stored one of its key, one that changes nothing makes no
    /// version.
    private mutating func store(_ cookie: Cookie, at now: UnixTime) -> Cookie {
        let domain = domain(of: cookie.host)
        let index = index(of: cookie.key, in: domain)
        if cookie.isExpired(at: now) {
            if let index { remove(index, from: domain, .deleted) }
            return cookie
        }
        var cookie = cookie
        if let index, let old = domains[domain]?[index].stored {
            cookie.created = old.cookie.created
            let isSame = cookie.isSame(as: old.cookie)
            if !isSame { version += 1 }
            domains[domain]?[index].stored = Stored(cookie: cookie, version: isSame ? old.version : version)
        } else {
            version += 1
            insert(Stored(cookie: cookie, version: version), in: domain)
            evict(from: domain, at: now)
        }
        return cookie
    }

    private mutating func insert(_ stored: Stored, in domain: String) {
        order += 1
        count += 1
        domains[domain, default: []].append(Entry(stored: stored, order: order))
    }

    private mutating func remove(_ index: Int, from domain: String, _ cause: CookieChange.Cause) {
        guard let key = domains[domain]?.remove(at: index).stored.cookie.key else { return }
        if domains[domain]?.isEmpty == true { domains[domain] = nil }
        count -= 1
        version += 1
        removals.append(CookieChange(version: version, kind: .removed(key, cause)))
    }

    private mutating func removeExpired(from domain: String, at now: UnixTime) {
        guard let entries = domains[domain] else { return }
        for index in entries.indices.reversed() where entries[index].stored.cookie.isExpired(at: now) {
            remove(index, from: domain, .expired)
        }
    }

    /// Removes what is beyond the limits: of the domain first, then of all.
    private mutating func evict(from domain: String, at now: UnixTime) {
        while let entries = domains[domain], entries.count > limits.domainCookies,
            let first = entries.indices.min(by: { entries[$0].goes(before: entries[$1]) })
        {
            remove(first, from: domain, .evicted)
        }
        guard count > limits.allCookies else { return }
        removeExpired(at: now)
        while count > limits.allCookies, let (domain, index) = firstToGo() { remove(index, from: domain, .evicted) }
    }

    private func firstToGo() -> (domain: String, index: Int)? {
        var first: (domain: String, index: Int, entry: Entry)?
        for (domain, entries) in domains {
            for (index, entry) in entries.enumerated() where first.map({ entry.goes(before: $0.entry) }) ?? true {
                first = (domain, index, entry)
            }
        }
        return first.map { ($0.domain, $0.index) }
    }
}
