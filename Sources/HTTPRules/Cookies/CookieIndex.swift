/// The cookies of a jar by the text of their registrable domain, or of their host where it has none.
struct CookieIndex: Sendable {
    /// A stored cookie and its place: how many were stored before it.
    struct Entry: Sendable {
        var stored: CookieJar.Stored
        let order: UInt64

        /// Whether it goes before another where there are too many.
        func goes(before other: Entry) -> Bool {
            CookieLimits.goes(stored.cookie, before: other.stored.cookie) ?? (order < other.order)
        }
    }

    /// Where a cookie is, until the next one is removed.
    struct Position {
        let domain: String
        let index: Int
    }

    /// How many cookies there are.
    private(set) var count = 0
    /// The bytes of all of them.
    private(set) var sizeBytes = 0
    private var domains: [String: [Entry]] = [:]
    private var order: UInt64 = 0

    /// The domains that have cookies.
    var names: [String] { Array(domains.keys) }

    /// All cookies, in no order.
    var all: [CookieJar.Stored] { domains.values.flatMap { $0.map(\.stored) } }

    /// The cookies that are as they are since a later version than the one given, in no order.
    ///
    /// - Parameter version: The version.
    func changed(since version: UInt64) -> [CookieJar.Stored] {
        var changed: [CookieJar.Stored] = []
        for entries in domains.values {
            for entry in entries where entry.stored.version > version { changed.append(entry.stored) }
        }
        return changed
    }

    /// The cookies of a domain, in the order in which they were stored.
    ///
    /// - Parameter domain: The domain.
    func entries(of domain: String) -> [Entry] { domains[domain] ?? [] }

    /// Where the cookie of a key is; nil where there is none.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - domain: Its domain.
    func position(of key: Cookie.Key, in domain: String) -> Position? {
        let index = domains[domain]?.firstIndex { entry in
            let cookie = entry.stored.cookie
            return cookie.name == key.name && cookie.path == key.path && cookie.host == key.host
                && cookie.hostOnly == key.hostOnly && cookie.partition == key.partition
        }
        return index.map { Position(domain: domain, index: $0) }
    }

    /// The cookie at a position, which must be one of this index.
    ///
    /// - Parameter position: The position.
    subscript(position: Position) -> CookieJar.Stored? {
        get { domains[position.domain]?[position.index].stored }
        set {
            guard let newValue, let old = domains[position.domain]?[position.index].stored else { return }
            sizeBytes += newValue.cookie.sizeBytes - old.cookie.sizeBytes
            domains[position.domain]?[position.index].stored = newValue
        }
    }

    /// Adds a cookie behind all others.
    ///
    /// - Parameters:
    ///   - stored: The cookie, of a key that is not there.
    ///   - domain: Its domain.
    mutating func insert(_ stored: CookieJar.Stored, in domain: String) {
        order += 1
        count += 1
        sizeBytes += stored.cookie.sizeBytes
        domains[domain, default: []].append(Entry(stored: stored, order: order))
    }

    /// Removes the cookie at a position.
    ///
    /// - Parameter position: The position.
    /// - Returns: The cookie.
    mutating func remove(_ position: Position) -> Cookie? {
        guard let removed = domains[position.domain]?.remove(at: position.index) else { return nil }
        if domains[position.domain]?.isEmpty == true { domains[position.domain] = nil }
        count -= 1
        sizeBytes -= removed.stored.cookie.sizeBytes
        return removed.stored.cookie
    }

    /// The cookie of a domain that goes first where there are too many.
    ///
    /// - Parameter domain: The domain.
    func firstToGo(of domain: String) -> Position? {
        let entries = entries(of: domain)
        return entries.indices.min { entries[$0].goes(before: entries[$1]) }.map { Position(domain: domain, index: $0) }
    }

    /// The cookie that goes first where there are too many.
    func firstToGo() -> Position? {
        var first: (entry: Entry, position: Position)?
        for (domain, entries) in domains {
            for (index, entry) in entries.enumerated() where first.map({ entry.goes(before: $0.entry) }) ?? true {
                first = (entry, Position(domain: domain, index: index))
            }
        }
        return first?.position
    }

    /// The cookies of a domain that go to a scope, in their order; they count as used.
    ///
    /// - Parameters:
    ///   - domain: The domain.
    ///   - scope: The scope.
    ///   - now: The time.
    /// - Returns: The cookies.
    mutating func use(_ domain: String, in scope: CookieScope, at now: UnixTime) -> [Cookie] {
        guard let index = domains.index(forKey: domain) else { return [] }
        return Self.use(&domains.values[index], in: scope, at: now)
    }

    private static func use(_ entries: inout [Entry], in scope: CookieScope, at now: UnixTime) -> [Cookie] {
        var found: [(place: CookieMatch.Place, cookie: Cookie)] = []
        for index in entries.indices {
            let order = entries[index].order
            let place = goes(&entries[index].stored.cookie, to: scope, at: now, order)
            if let place { found.append((place, entries[index].stored.cookie)) }
        }
        found.sort { $0.place < $1.place }
        return found.map(\.cookie)
    }

    /// The place of a cookie that goes to a scope, and is used; nil of others. It is handed over in place: a copy of
    /// each takes longer than to compare it.
    private static func goes(
        _ cookie: inout Cookie, to scope: CookieScope, at now: UnixTime, _ order: UInt64
    ) -> CookieMatch.Place? {
        guard CookieMatch.goes(cookie, to: scope, at: now) else { return nil }
        cookie.accessed = now
        return CookieMatch.Place(cookie, order: order)
    }
}
