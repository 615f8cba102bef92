/// The cookies of an index in the order in which they go where there are too many: a heap, so that the first one is
/// found without looking at all.
///
/// It is made when the first cookie has to go. From then on it has an item for each cookie that came or was changed.
/// Uses are not entered: an item says when its cookie was used at the latest when the item was made, and one that has
/// been used since is put back at its place when it comes to the top. So is one that is older than its cookie; one
/// whose cookie is gone is dropped.
struct EvictionOrder: Sendable {
    /// A cookie as it was.
    struct Item: Sendable {
        let domain: String
        let order: UInt64
        let isPinned: Bool
        let isSecure: Bool
        let accessed: UnixTime
        let created: UnixTime

        init(_ entry: CookieIndex.Entry, of domain: String) {
            let cookie = entry.stored.cookie
            (self.domain, order) = (domain, entry.order)
            (isPinned, isSecure, accessed, created) = (cookie.pin, cookie.secure, cookie.accessed, cookie.created)
        }

        /// As `CookieIndex.Entry.goes(before:)`.
        func goes(before other: Item) -> Bool {
            if isPinned != other.isPinned { return other.isPinned }
            if isSecure != other.isSecure { return other.isSecure }
            if accessed != other.accessed { return accessed < other.accessed }
            if created != other.created { return created < other.created }
            return order < other.order
        }

        /// Whether the cookie still is as it was.
        func isCurrent(_ entry: CookieIndex.Entry) -> Bool {
            let cookie = entry.stored.cookie
            return cookie.accessed == accessed && cookie.pin == isPinned && cookie.secure == isSecure
                && cookie.created == created
        }
    }

    private var items: [Item] = []

    var count: Int { items.count }

    init(_ items: [Item]) {
        self.items = items
        for place in (0..<items.count / 2).reversed() { sink(from: place) }
    }

    mutating func insert(_ item: Item) {
        items.append(item)
        var place = items.count - 1
        while place > 0, case let parent = (place - 1) / 2, items[place].goes(before: items[parent]) {
            items.swapAt(place, parent)
            place = parent
        }
    }

    /// The first item; it stays.
    var first: Item? { items.first }

    mutating func removeFirst() {
        items.swapAt(0, items.count - 1)
        items.removeLast()
        sink(from: 0)
    }

    private mutating func sink(from start: Int) {
        var place = start
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < items.count {
                if items[child].goes(before: items[least]) { least = child }
            }
            if least == place { return }
            items.swapAt(place, least)
            place = least
        }
    }
}
