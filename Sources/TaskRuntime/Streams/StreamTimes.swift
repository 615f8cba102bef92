import DequeModule

/// Streams in the order in which they must be checked. All wait equally long, so the newest is the last.
struct StreamTimes {
    private var entries: Deque<(name: StreamName, at: RuntimeInstant)> = []
    /// The number of entries from which those of ended streams are removed. Otherwise they stay until they are due.
    private var crowd = 64

    /// The moment when the first is due; ``RuntimeInstant/never`` if there is none.
    var earliest: RuntimeInstant { entries.first?.at ?? .never }

    mutating func append(_ name: StreamName, at moment: RuntimeInstant) { entries.append((name, moment)) }

    mutating func popExpired(at now: RuntimeInstant) -> StreamName? {
        guard let first = entries.first, first.at <= now else { return nil }
        return entries.popFirst()?.name
    }

    /// Removes entries that need no check any more, if there are many: on average a few entries for each one that is
    /// appended.
    mutating func trim(where isNeeded: (StreamName) -> Bool) {
        guard entries.count >= crowd else { return }
        entries.removeAll { !isNeeded($0.name) }
        crowd = max(64, entries.count * 2)
    }
}
