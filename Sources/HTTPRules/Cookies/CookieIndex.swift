/// The cookies of a jar, indexed by the text of their registrable domain, or of their host if it has none.
struct CookieIndex: Sendable {
    /// A stored cookie and its number in the order of insertion.
    struct Entry: Sendable {
        var stored: CookieJar.Stored
        let order: UInt64

        /// Returns whether this cookie is evicted before another.
        func goes(before other: Entry) -> Bool {
            CookieLimits.goes(stored.cookie, before: other.stored.cookie) ?? (order < other.order)
        }
    }

    /// The position of a cookie, valid until the next removal.
    struct Position {
        let domain: String
        let index: Int
    }

    /// The number of cookies.
    private(set) var count = 0
    /// The total length of all cookies in bytes.
    private(set) var sizeBytes = 0
    private var domains: [String: [Entry]] = [:]
    private var order: UInt64 = 0
    /// A moment before which no cookie expires; `nil` if no cookie has an expiry. It may be too early, never too late.
    private var earliestEnd: UnixTime?
    /// The order of eviction; `nil` if no cookie has been evicted yet, or the order must be rebuilt.
    private var eviction: EvictionOrder?
    /// The time of the last use of cookies.
    private var lastUse = UnixTime(seconds: .min)
    /// The steps since `begin`; `nil` if steps are not recorded.
    private var journal: [Step]?

    /// A step that can be undone.
    private enum Step {
        case inserted(domain: String, Cookie.Key)
        case replaced(Position, CookieJar.Stored)
        case removed(Position, Entry)
    }

    /// The domains that have cookies.
    var names: [String] { Array(domains.keys) }

    /// All cookies, in no order.
    var all: [CookieJar.Stored] { domains.values.flatMap { $0.map(\.stored) } }

    /// Returns the cookies whose last change is later than a version, in no order.
    ///
    /// - Parameter version: The version.
    func changed(since version: UInt64) -> [CookieJar.Stored] {
        var changed: [CookieJar.Stored] = []
        for entries in domains.values {
            for entry in entries where entry.stored.version > version { changed.append(entry.stored) }
        }
        return changed
    }

    /// Returns the cookies of a domain, in the order of insertion.
    ///
    /// - Parameter domain: The domain.
    func entries(of domain: String) -> [Entry] { domains[domain] ?? [] }

    /// Returns the position of the cookie with a key; `nil` if there is none.
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

    /// The cookie at a position, which must be a position in this index.
    ///
    /// - Parameter position: The position.
    subscript(position: Position) -> CookieJar.Stored? {
        get { domains[position.domain]?[position.index].stored }
        set {
            guard let newValue, let old = domains[position.domain]?[position.index].stored else { return }
            journal?.append(.replaced(position, old))
            replace(position, newValue, old)
        }
    }

    private mutating func replace(_ position: Position, _ new: CookieJar.Stored, _ old: CookieJar.Stored) {
        sizeBytes += new.cookie.sizeBytes - old.cookie.sizeBytes
        domains[position.domain]?[position.index].stored = new
        note(position)
    }

    /// Records a cookie that was added or changed.
    private mutating func note(_ position: Position) {
        guard let entry = domains[position.domain]?[position.index] else { return }
        if let end = entry.stored.cookie.expires { earliestEnd = min(earliestEnd ?? end, end) }
        eviction?.insert(EvictionOrder.Item(entry, of: position.domain))
    }

    /// Appends a cookie.
    ///
    /// - Parameters:
    ///   - stored: The cookie, with a key that is not in the index.
    ///   - domain: Its domain.
    mutating func insert(_ stored: CookieJar.Stored, in domain: String) {
        order += 1
        journal?.append(.inserted(domain: domain, stored.cookie.key))
        let place = domains[domain]?.count ?? 0
        insert(Entry(stored: stored, order: order), at: Position(domain: domain, index: place))
    }

    private mutating func insert(_ entry: Entry, at position: Position) {
        count += 1
        sizeBytes += entry.stored.cookie.sizeBytes
        domains[position.domain, default: []].insert(entry, at: position.index)
        note(position)
    }

    /// Removes the cookie at a position.
    ///
    /// - Parameter position: The position.
    /// - Returns: The cookie.
    mutating func remove(_ position: Position) -> Cookie? {
        guard let removed = removed(position) else { return nil }
        journal?.append(.removed(position, removed))
        return removed.stored.cookie
    }

    private mutating func removed(_ position: Position) -> Entry? {
        guard let removed = domains[position.domain]?.remove(at: position.index) else { return nil }
        if domains[position.domain]?.isEmpty == true { domains[position.domain] = nil }
        count -= 1
        sizeBytes -= removed.stored.cookie.sizeBytes
        return removed
    }

    /// Returns the cookie of a domain that is evicted first; `nil` if there is none.
    ///
    /// - Parameter domain: The domain.
    func firstToGo(of domain: String) -> Position? {
        let entries = entries(of: domain)
        return entries.indices.min { entries[$0].goes(before: entries[$1]) }.map { Position(domain: domain, index: $0) }
    }

    /// Returns the cookie that is evicted first; `nil` if there is none.
    mutating func firstToGo() -> Position? {
        if (eviction?.count ?? .max) > 2 * count + Self.staleItems { eviction = EvictionOrder(items) }
        while let item = eviction?.first {
            let position = position(of: item.order, in: item.domain)
            if let position, let entry = domains[position.domain]?[position.index] {
                if item.isCurrent(entry) { return position }
                eviction?.removeFirst()
                eviction?.insert(EvictionOrder.Item(entry, of: position.domain))
            } else {
                eviction?.removeFirst()
            }
        }
        return nil
    }

    /// The number of outdated items, of removed or changed cookies, that may exist in addition to twice the number of
    /// cookies.
    private static let staleItems = 64

    private var items: [EvictionOrder.Item] {
        domains.flatMap { domain, entries in entries.map { EvictionOrder.Item($0, of: domain) } }
    }

    /// Returns the position of the cookie with an insertion number; the cookies of a domain are sorted by it.
    private func position(of order: UInt64, in domain: String) -> Position? {
        guard let entries = domains[domain] else { return nil }
        var range = entries.indices
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if entries[middle].order == order { return Position(domain: domain, index: middle) }
            range = entries[middle].order < order ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }

    /// Returns whether a cookie may have expired.
    ///
    /// - Parameter now: The time.
    func mayHaveEnded(at now: UnixTime) -> Bool { earliestEnd.map { $0 <= now } ?? false }

    /// Determines the earliest expiry, after expired cookies were removed.
    mutating func findEarliestEnd() {
        earliestEnd = domains.values.lazy.flatMap { $0 }.compactMap(\.stored.cookie.expires).min()
    }

    /// Returns the cookies of a domain that are sent to a scope, in their order, and marks them as used.
    ///
    /// - Parameters:
    ///   - domain: The domain.
    ///   - scope: The scope.
    ///   - now: The time.
    /// - Returns: The cookies.
    mutating func use(_ domain: String, in scope: CookieScope, at now: UnixTime) -> [Cookie] {
        guard let index = domains.index(forKey: domain) else { return [] }
        // If the clock was set back, the last use of a cookie can be earlier than in its item.
        if now < lastUse { eviction = nil }
        lastUse = now
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

    /// Returns the place of a cookie that is sent to a scope, and marks it as used; `nil` for others. The cookie is
    /// passed in place, because a copy of each takes longer than its comparison.
    private static func goes(
        _ cookie: inout Cookie, to scope: CookieScope, at now: UnixTime, _ order: UInt64
    ) -> CookieMatch.Place? {
        guard CookieMatch.goes(cookie, to: scope, at: now) else { return nil }
        cookie.accessed = now
        return CookieMatch.Place(cookie, order: order)
    }
}

// MARK: Undo

extension CookieIndex {
    /// Starts to record steps.
    mutating func begin() { journal = [] }

    /// Stops recording steps.
    ///
    /// - Returns: The keys of the cookies that were inserted or changed.
    mutating func end() -> Set<Cookie.Key> {
        defer { journal = nil }
        var keys: Set<Cookie.Key> = []
        for step in journal ?? [] {
            switch step {
            case .inserted(_, let key): keys.insert(key)
            case .replaced(_, let old): keys.insert(old.cookie.key)
            case .removed: break
            }
        }
        return keys
    }

    /// Undoes the steps since `begin`, the last one first.
    mutating func undo() {
        let steps = journal ?? []
        journal = nil
        for step in steps.reversed() {
            switch step {
            case .inserted(let domain, _):
                order -= 1
                _ = removed(Position(domain: domain, index: entries(of: domain).count - 1))
            case .replaced(let position, let old):
                if let new = self[position] { replace(position, old, new) }
            case .removed(let position, let entry): insert(entry, at: position)
            }
        }
    }
}
