/// Cookies in memory under the rules of this module, as in a browser's profile. It has no clock: the caller provides
/// the time.
///
/// Cookies are grouped by registrable domain, so a request is compared at most with the cookies of one domain. Every
/// change has its own version, with which clients can request newer changes.
public struct CookieJar: Sendable {
    /// The list of public suffixes.
    public let suffixes: PublicSuffixList
    /// The maximum numbers of cookies.
    public let limits: CookieLimits
    /// The version of the last change.
    public private(set) var version: UInt64
    private var index = CookieIndex()
    private var isInTransaction = false
    private var removals: CookieRemovals

    /// Creates a jar, empty or with cookies that were stored elsewhere.
    ///
    /// - Parameters:
    ///   - suffixes: The list of public suffixes.
    ///   - limits: The maximum numbers of cookies.
    ///   - stored: The cookies to begin with, in the order in which they were stored. Of two with the same key the
    ///     later one is used.
    ///   - version: The version of the last change to them.
    ///   - removals: The removals that were stored elsewhere, by version.
    ///   - forgotten: The version of the last removal that was not stored; `nil` if no removals were stored.
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

    /// The number of cookies, including expired cookies that have not been removed yet.
    public var count: Int { index.count }

    /// The total length of names, values, paths and partitions of all cookies in bytes.
    public var sizeBytes: Int { index.sizeBytes }

    /// The version of the last removal that the jar has discarded.
    public var forgotten: UInt64 { removals.forgotten }

    /// All cookies, in no order, including expired cookies that have not been removed yet.
    public var all: [Stored] { index.all }

    /// Returns the cookie with a key; `nil` if there is none.
    ///
    /// - Parameter key: The key.
    public func cookie(_ key: Cookie.Key) -> Stored? {
        index.position(of: key, in: domain(of: key.host)).flatMap { index[$0] }
    }
}

// MARK: Requests

extension CookieJar {
    /// Returns the cookies that are sent with a request, or visible to a script, in their order, and marks them as
    /// used.
    ///
    /// - Parameters:
    ///   - context: The request or the script.
    ///   - now: The time.
    /// - Returns: The cookies.
    public mutating func cookies(for context: CookieContext, at now: UnixTime) -> [Cookie] {
        let scope = CookieScope(context, suffixes: suffixes)
        return index.use((scope.registrableDomain ?? scope.host).text, in: scope, at: now)
    }

    /// Returns whether there is a cookie of a host's registrable domain, or of the host if it has none. If not, no
    /// request to the host has cookies.
    ///
    /// - Parameter host: The host.
    public func hasCookies(near host: Host) -> Bool { !index.entries(of: domain(of: host)).isEmpty }

    /// Returns the value of the header `Cookie` for a request.
    ///
    /// - Parameters:
    ///   - context: The request.
    ///   - now: The time.
    /// - Returns: The bytes; empty if no header is sent.
    public mutating func header(for context: CookieContext, at now: UnixTime) -> [UInt8] {
        CookieMatch.header(cookies(for: context, at: now))
    }
}

// MARK: Changes

extension CookieJar {
    /// The outcome of a line.
    public typealias Outcome = Result<Cookie, CookieRefusal>

    /// Applies the `Set-Cookie` lines of a response, or the lines that a script sets, one after the other.
    ///
    /// - Parameters:
    ///   - lines: The values of the fields, in order.
    ///   - context: The request that was answered, or the script.
    ///   - now: The time.
    /// - Returns: The outcome of each line: the cookie, or the reason for its refusal.
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
            // The user's settings for a cookie are kept when its value changes.
            cookie.persist = old.persist
            cookie.pin = old.pin
        }
        return store(cookie, at: now)
    }

    /// Sets a cookie from another source than a line.
    ///
    /// - Parameters:
    ///   - cookie: The cookie. If one with the same key exists, its creation time is kept.
    ///   - now: The time.
    /// - Returns: The cookie as it is stored.
    /// - Throws: The reason, if it is refused.
    @discardableResult public mutating func set(
        _ cookie: Cookie, at now: UnixTime
    ) throws(CookieRefusal) -> Cookie {
        let cookie = try CookieAdmission.check(cookie, suffixes: suffixes, at: now)
        removeExpired(from: domain(of: cookie.host), at: now)
        return store(cookie, at: now)
    }

    /// Removes a cookie.
    ///
    /// - Parameter key: The cookie's key.
    /// - Returns: Whether the cookie existed.
    @discardableResult public mutating func delete(_ key: Cookie.Key) -> Bool {
        guard let position = index.position(of: key, in: domain(of: key.host)) else { return false }
        remove(position, .deleted)
        return true
    }

    /// Removes all cookies that fulfil a condition.
    ///
    /// - Parameters:
    ///   - cause: The reason for the removal.
    ///   - isMeant: The condition, such as that a cookie was set after a time.
    /// - Returns: The number of cookies removed.
    @discardableResult public mutating func delete(
        _ cause: CookieChange.Cause = .deleted, where isMeant: (Cookie) -> Bool
    ) -> Int {
        let keys = all.map(\.cookie).filter(isMeant).map(\.key)
        for key in keys {
            if let position = index.position(of: key, in: domain(of: key.host)) { remove(position, cause) }
        }
        return keys.count
    }

    /// Removes the cookies that have expired.
    ///
    /// - Parameter now: The time.
    public mutating func removeExpired(at now: UnixTime) {
        for domain in index.names { removeExpired(from: domain, at: now) }
        index.findEarliestEnd()
    }

    /// Returns the changes after a version, oldest first.
    ///
    /// - Parameter version: A version that this jar has had.
    /// - Returns: The changes; `nil` if the jar has discarded some of them, so that the client must start again.
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
    /// Makes changes in place. If `body` throws, nothing is changed. Transactions must not be nested.
    ///
    /// - Parameter body: Makes the changes. The last-use times of cookies are not restored.
    /// - Returns: The value that `body` returns, and the changes, oldest first.
    /// - Throws: The error of `body`.
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

    /// Returns the same as `changes(since:)` if only the cookies with these keys may have been set.
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

    /// Stores a cookie. An expired cookie removes the stored one of its key; one that changes nothing creates no
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

    /// Removes the cookies that exceed the limits: first of the domain, then of the whole jar.
    private mutating func evict(from domain: String, at now: UnixTime) {
        while index.entries(of: domain).count > limits.domainCookies, let first = index.firstToGo(of: domain) {
            remove(first, .evicted)
        }
        guard count > limits.allCookies else { return }
        if index.mayHaveEnded(at: now) { removeExpired(at: now) }
        while count > limits.allCookies, let first = index.firstToGo() { remove(first, .evicted) }
    }
}
