/// A copy of a page, which runs no scripts and loads nothing.
struct KeptPage: Sendable {
    /// The page's address, without a fragment.
    var uri: String
    /// The document.
    var html: String
    /// The time at which it was shown, for a person.
    var time: String
}

/// Copies of pages that were shown, used when the pages cannot be loaded. The oldest are removed first.
struct KeptPages: Sendable {
    /// The maximum number of copies.
    static let maximum = 16
    /// The maximum number of bytes of all copies.
    static let maximumBytes = 16 << 20
    /// The maximum number of bytes of one copy.
    static let maximumPageBytes = 4 << 20

    private var pages: [KeptPage] = []

    /// Stores a copy in place of the previous one of its address; returns false if it is too long.
    mutating func keep(_ page: KeptPage) -> Bool {
        guard page.html.utf8.count <= Self.maximumPageBytes else { return false }
        pages.removeAll { $0.uri == page.uri }
        pages.append(page)
        while pages.count > Self.maximum || bytes > Self.maximumBytes { pages.removeFirst() }
        return true
    }

    private var bytes: Int { pages.reduce(0) { $0 + $1.html.utf8.count } }

    /// The copy of an address; `nil` for none.
    subscript(_ uri: String) -> KeptPage? {
        let uri = Self.key(uri)
        return pages.first { $0.uri == uri }
    }

    /// Removes all copies.
    mutating func removeAll() { pages = [] }

    /// Returns the address of a document, without its fragment.
    static func key(_ uri: String) -> String { String(uri.prefix { $0 != "#" }) }
}
