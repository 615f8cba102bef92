/// Cookies in memory under the rules of this module: what a browser's profile holds. It keeps no clock: whoever asks
/// says the time.
///
/// Cookies lie by registrable domain, so that a request is compared with at most so many as one domain may have. Every
/// change has a version of its own, by which others can ask for what is new.
public struct CookieJar: Sendable {
    /// The list of public suffixes.
    public let suffixes: PublicSuffixList
    /// How many cookies there may be.
    public let limits: CookieLimits
    /// The version of the last change.
    public private(set) var version: UInt64
    private var index = CookieIndex()
    private var isInTransaction = false
    private var removals: CookieRemovals

    /// A jar, empty or with what was kept elsewhere.
    ///
    /// - Parameters:
    ///   - suffixes: The list of public suffixes.
    ///   - limits: How many cookies there may be.
    ///   - stored: The cookies to begin with, in the order in which they were stored; of two with the same key the
    ///     later one stays.
    ///   - version: The version of the last change to them.
    ///   - removals: The removals that were kept elsewhere, by version.
    ///   - forgotten: The version of the last removal that was not kept; nil: none of them was.
    public init(
        suffixes: PublicSuffixList, limits: CookieLimits = .standard, stored: [Stored] = [], version: UInt64 = 0,
        removals: [CookieChange] = [], forgotten: UInt64? = nil
    ) {
        self.suffixes = suffixes
        self.limits = limits
        self.version = stored.reduce(version) { max($0, $1.version) }
        self.removals = CookieRemovals(forgotten: forgotten ?? self.version)
        if forgotten != nil { for removal in removals { self.removals.append(removal) } }
        for stored in stored { restore(stored) }
        if forgotten == nil { self.removals = CookieRemovals(forgotten: self.version) }
    }

    private mutating func restore(_ stored: Stored) {
        let domain = domain(of: stored.cookie.host)
        if let position = index.position(of: stored.cookie.key, in: domain) {
            index[position] = stored
        } else {
            index.insert(stored, in: domain)
            evict(from: domain, at: UnixTime(seconds: .min))
        }
    }

    /// How many cookies there are, those included that have ended and are still there.
    public var count: Int { index.count }

    /// The bytes of names, values, paths and partitions of all cookies.
    public var sizeBytes: Int { index.sizeBytes }

    /// The version of the last removal that the jar no longer knows.
    public var forgotten: UInt64 { removals.forgotten }

    /// All cookies, in no order, those included that have ended and are still there.
    public var all: [Stored] { index.all }

    /// The cookie of a key; nil where there is none.
    ///
    /// - Parameter key: The key.
    public func cookie(_ key: Cookie.Key) -> Stored? {
        index.position(of: key, in: domain(of: key.host)).flatMap { index[$0] }
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
        return index.use((scope.registrableDomain ?? scope.host).text, in: scope, at: now)
    }

    /// Whether there is a cookie of a host's registrable domain, or of a host without one. Where not, no request to the
    /// host has cookies.
    ///
    /// - Parameter host: The host.
    public func hasCookies(near host: Host) -> Bool { !index.entries(of: domain(of: host)).isEmpty }

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
        let neighbours = index.entries(of: domain).lazy.map(\.stored.cookie)
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
        guard let position = index.position(of: key, in: domain(of: key.host)) else { return false }
        remove(position, .deleted)
        return true
    }

    /// Removes all cookies that are meant.
    ///
    /// - Parameters:
    ///   - cause: Why they go.
    ///   - isMeant: Whether a cookie is, such as one that was set after a time.
    /// - Returns: How many were there.
    @discardableResult public mutating func delete(
        _ cause: CookieChange.Cause = .deleted, where isMeant: (Cookie) -> Bool
    ) -> Int {
        let keys = all.map(\.cookie).filter(isMeant).map(\.key)
        for key in keys {
            if let position = index.position(of: key, in: domain(of: key.host)) { remove(position, cause) }
        }
        return keys.count
    }

    /// Removes the cookies that have ended.
    ///
    /// - Parameter now: The time.
    public mutating func removeExpired(at now: UnixTime) {
        for domain in index.names { removeExpired(from: domain, at: now) }
        index.findEarliestEnd()
    }

    /// What has changed after a version, oldest first.
    ///
    /// - Parameter version: A version that this jar has had.
    /// - Returns: The changes; nil where the jar no longer knows them all, and who asks must begin again.
    public func changes(since version: UInt64) -> [CookieChange]? {
        guard (removals.forgotten...self.version).contains(version) else { return nil }
        var changes = removals.since(version)
        for stored in index.changed(since: version) {
            changes.append(CookieChange(version: stored.version, kind: .set(stored.cookie)))
        }
        return changes.sorted { $0.version < $1.version }
    }
}

// MARK: Transactions

extension CookieJar {
    /// Makes changes in place; where `body` throws, nothing is changed. One is not made within another.
    ///
    /// - Parameter body: Makes the changes. A use of cookies is not undone.
    /// - Returns: What `body` returns, and what has changed, oldest first.
    /// - Throws: What `body` throws.
    public mutating func transaction<T, Failure: Error>(
        _ body: (inout CookieJar) throws(Failure) -> T
    ) throws(Failure) -> (result: T, changes: [CookieChange]) {
        let (before, mark) = (version, removals.mark)
        index.begin()
        isInTransaction = true
        defer { isInTransaction = false }
        do throws(Failure) {
            let result = try body(&self)
            let changes = changes(of: index.end(), since: before)
            removals.tidy()
            return (result, changes)
        } catch {
            index.undo()
            removals.undo(to: mark)
            version = before
            throw error
        }
    }

    /// As `changes(since:)`, where only the cookies of these keys may have been set.
    private func changes(of keys: Set<Cookie.Key>, since version: UInt64) -> [CookieChange] {
        var changes = removals.since(version)
        for key in keys {
            guard let stored = cookie(key), stored.version > version else { continue }
            changes.append(CookieChange(version: stored.version, kind: .set(stored.cookie)))
        }
        return changes.sorted { $0.version < $1.version }
    }
}

// MARK: Storage

extension CookieJar {
    private func domain(of host: Host) -> String { (suffixes.registrableDomain(of: host) ?? host).text }

    /// Stores a cookie; one that has ended removes the stored one of its key, one that changes nothing makes no
    /// version.
    private mutating func store(_ cookie: Cookie, at now: UnixTime) -> Cookie {
        let domain = domain(of: cookie.host)
        let position = index.position(of: cookie.key, in: domain)
        if cookie.isExpired(at: now) {
            if let position { remove(position, .deleted) }
            return cookie
        }
        var cookie = cookie
        if let position, let old = index[position] {
            cookie.created = old.cookie.created
            let isSame = cookie.isSame(as: old.cookie)
            if !isSame { version += 1 }
            index[position] = Stored(cookie: cookie, version: isSame ? old.version : version)
        } else {
            version += 1
            index.insert(Stored(cookie: cookie, version: version), in: domain)
            evict(from: domain, at: now)
        }
        return cookie
    }

    private mutating func remove(_ position: CookieIndex.Position, _ cause: CookieChange.Cause) {
        guard let cookie = index.remove(position) else { return }
        version += 1
        removals.append(
            CookieChange(version: version, kind: .removed(cookie.key, cause), httpOnly: cookie.httpOnly))
        if !isInTransaction { removals.tidy() }
    }

    private mutating func removeExpired(from domain: String, at now: UnixTime) {
        let entries = index.entries(of: domain)
        for place in entries.indices.reversed() where entries[place].stored.cookie.isExpired(at: now) {
            remove(CookieIndex.Position(domain: domain, index: place), .expired)
        }
    }

    /// Removes what is beyond the limits: of the domain first, then of all.
    private mutating func evict(from domain: String, at now: UnixTime) {
        while index.entries(of: domain).count > limits.domainCookies, let first = index.firstToGo(of: domain) {
            remove(first, .evicted)
        }
        guard count > limits.allCookies else { return }
        if index.mayHaveEnded(at: now) { removeExpired(at: now) }
        while count > limits.allCookies, let first = index.firstToGo() { remove(first, .evicted) }
    }
}
