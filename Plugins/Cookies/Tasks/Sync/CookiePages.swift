import HTTPRules
import TaskKit

/// A profile in pages that fit into messages, in the order of versions. A client that has one page requests the items
/// after its version.
struct CookiePages: Sendable {
    /// The approximate maximum length of a page as JSON: half of a message.
    static let pageBytes = 512 << 10

    /// The cookies or changes.
    var items: [JSON] = []
    /// The version up to which the page is complete.
    var version: UInt64
    /// Whether more pages follow.
    var hasMore = false

    /// Returns the cookies that were last changed after a version.
    static func snapshot(
        _ jar: CookieJar, after: UInt64, for view: CookieView, at now: UnixTime,
        where isSelected: (Cookie) -> Bool = { _ in true }
    ) -> CookiePages {
        let cookies = jar.all.filter { $0.version > after && view.shows($0.cookie, at: now) && isSelected($0.cookie) }
        return pages(of: cookies.sorted { $0.version < $1.version }, upTo: jar.version, \.version) { stored in
            let bytes = CookieChange(version: stored.version, kind: .set(stored.cookie)).sizeBytes
            return (stored.cookie.json(version: stored.version, showsSecrets: view.showsSecrets), bytes)
        }
    }

    /// Returns as many unexpired cookies after a version as fit into a message.
    static func cookies(
        _ jar: CookieJar, after: UInt64, at now: UnixTime, where isSelected: (Cookie) -> Bool
    ) -> (cookies: [CookieJar.Stored], version: UInt64, hasMore: Bool) {
        let all = jar.all.filter { $0.version > after && !$0.cookie.isExpired(at: now) && isSelected($0.cookie) }
            .sorted { $0.version < $1.version }
        var bytes = 0
        let page = all.prefix { stored in
            defer { bytes += CookieChange(version: stored.version, kind: .set(stored.cookie)).sizeBytes }
            return bytes <= pageBytes
        }
        let hasMore = page.count < all.count
        return (Array(page), hasMore ? page.last?.version ?? jar.version : jar.version, hasMore)
    }

    /// Returns the changes after a version.
    ///
    /// - Throws: `cursor.expired`.
    static func changes(
        _ jar: CookieJar, since: UInt64, for view: CookieView, at now: UnixTime
    ) throws(BridgeError) -> CookiePages {
        guard let changes = jar.changes(since: since) else {
            throw .cursorExpired(since: since, oldest: jar.forgotten, version: jar.version)
        }
        return pages(of: changes, upTo: jar.version, \.version) { change in
            view.json(change, at: now).map { ($0, change.sizeBytes) }
        }
    }

    private static func pages<T>(
        of all: [T], upTo version: UInt64, _ versionOf: (T) -> UInt64, _ write: (T) -> (JSON, Int)?
    ) -> CookiePages {
        var page = CookiePages(version: version)
        var bytes = 0
        for one in all {
            if bytes > pageBytes {
                page.hasMore = true
                return page
            }
            guard let (json, size) = write(one) else { continue }
            page.items.append(json)
            bytes += size
            if bytes > pageBytes { page.version = versionOf(one) }
        }
        page.version = version
        return page
    }
}
