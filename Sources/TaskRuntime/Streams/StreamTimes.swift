import DequeModule

/// Streams in the order in which they are to be looked at: all wait equally long, so that the newest is the last.
struct StreamTimes {
    private var entries: Deque<(name: StreamName, at: RuntimeInstant)> = []
    /// Entries of streams that are over stay until they are due, or until there are so many.
    private var crowd = 64

    /// When the first is due; ``RuntimeInstant/never``: there is none.
    var earliest: RuntimeInstant { entries.first?.at ?? .never }

    mutating func append(_ name: StreamName, at moment: RuntimeInstant) { entries.append((name, moment)) }

    mutating func popExpired(at now: RuntimeInstant) -> StreamName? {
        guard let first = entries.first, first.at <= now else { return nil }
        return entries.popFirst()?.name
    }

    /// Drops what need not be looked at any longer, where that has become much: on the average a few entries for each
    /// one that is appended.
    mutating func trim(where isNeeded: (StreamName) -> Bool) {
        guard entries.count >= crowd else { return }
        entries.removeAll { !isNeeded($0.name) }
        crowd = max(64, entries.count * 2)
    }
}
