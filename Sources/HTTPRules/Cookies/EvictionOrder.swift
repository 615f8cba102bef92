/// The cookies of an index in the order of their eviction: a heap, so that the first one is found without reading all.
///
/// It is created when the first cookie must be evicted. From then on an item is added for each cookie that is added or
/// changed. Uses are not recorded: an item contains the last use at the time of its creation. If its cookie has been
/// used or changed since, the item is put back at its new place when it reaches the top. If its cookie was removed, the
/// item is dropped.
struct EvictionOrder: Sendable {
    /// The state of a cookie when the item was created.
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

        /// Compares as `CookieIndex.Entry.goes(before:)` does.
        func goes(before other: Item) -> Bool {
            if isPinned != other.isPinned { return other.isPinned }
            if isSecure != other.isSecure { return other.isSecure }
            if accessed != other.accessed { return accessed < other.accessed }
            if created != other.created { return created < other.created }
            return order < other.order
        }

        /// Returns whether the cookie is unchanged.
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

    /// The first item, which is not removed.
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
