/// A copy of a page, which runs nothing and loads nothing.
struct KeptPage: Sendable {
    /// Its address, without a fragment.
    var uri: String
    /// The document.
    var html: String
    /// When it was shown, for a person.
    var time: String
}

/// Copies of pages that were shown, for when their addresses cannot be had. The oldest go first.
struct KeptPages: Sendable {
    /// How many there may be.
    static let maximum = 16
    /// The bytes of all.
    static let maximumBytes = 16 << 20
    /// The bytes of one.
    static let maximumPageBytes = 4 << 20

    private var pages: [KeptPage] = []

    /// Keeps a copy in the place of the one before; false where it is too long.
    mutating func keep(_ page: KeptPage) -> Bool {
        guard page.html.utf8.count <= Self.maximumPageBytes else { return false }
        pages.removeAll { $0.uri == page.uri }
        pages.append(page)
        while pages.count > Self.maximum || bytes > Self.maximumBytes { pages.removeFirst() }
        return true
    }

    private var bytes: Int { pages.reduce(0) { $0 + $1.html.utf8.count } }

    /// The copy of an address; nil: there is none.
    subscript(_ uri: String) -> KeptPage? {
        let uri = Self.key(uri)
        return pages.first { $0.uri == uri }
    }

    /// Removes all.
    mutating func removeAll() { pages = [] }

    /// The address of a document, without its fragment.
    static func key(_ uri: String) -> String { String(uri.prefix { $0 != "#" }) }
}
