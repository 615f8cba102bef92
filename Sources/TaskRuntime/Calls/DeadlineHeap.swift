/// The calls that have a deadline, the earliest first, as a binary heap.
///
/// A call that ends before its deadline, as most do, is only counted. Its entry stays until it reaches the front, or
/// until more than half of the entries belong to such calls. Then all of these are removed together, which costs less
/// per entry than removing each from the middle of the heap.
struct DeadlineHeap {
    /// The deadline is stored beside its call: a comparison reads only the heap, not the records of calls.
    private struct Entry {
        let deadline: RuntimeInstant
        let call: Call
        /// The generation of the call, because calls reuse records.
        let generation: UInt32

        /// Whether the call is in flight and its deadline is active.
        var isLive: Bool {
            call.record.pointee.handle.generation == generation && call.record.pointee.hasDeadlineEntry
        }
    }

    /// The number of entries of ended calls that are kept in any case.
    private static let keptEntries = 64

    private var entries: [Entry] = []
    /// The number of live entries.
    private(set) var count = 0

    /// The number of entries, including those of ended calls.
    var entryCount: Int { entries.count }

    /// The earliest deadline. It may be that of a call that has ended.
    var earliest: RuntimeInstant { entries.first?.deadline ?? .never }

    /// Frees the memory if no live entry is left; otherwise removes the entries of ended calls.
    mutating func trimMemory() {
        if count == 0 { entries = [] } else { removeEnded() }
    }

    /// Adds a call that has a deadline, which must not change while the call is in the heap.
    mutating func insert(_ call: Call) {
        call.record.pointee.hasDeadlineEntry = true
        count += 1
        let entry = Entry(
            deadline: call.deadline, call: call, generation: call.record.pointee.handle.generation)
        entries.append(entry)
        siftUp(entry, from: entries.count - 1)
    }

    /// Removes a call that ends or whose deadline is not active any more. Does nothing if it is not in the heap.
    mutating func remove(_ call: Call) {
        guard call.record.pointee.hasDeadlineEntry else { return }
        call.record.pointee.hasDeadlineEntry = false
        count -= 1
        if count == 0 {
            entries.removeAll(keepingCapacity: true)
        } else if entries.count > 2 * count + Self.keptEntries {
            removeEnded()
        }
    }

    /// Removes and returns the earliest call whose deadline has passed.
    mutating func popExpired(at now: RuntimeInstant) -> Call? {
        while let first = entries.first, first.deadline <= now {
            removeFirst()
            guard first.isLive else { continue }
            first.call.record.pointee.hasDeadlineEntry = false
            count -= 1
            return first.call
        }
        return nil
    }

    private mutating func removeFirst() {
        let last = entries.removeLast()
        if !entries.isEmpty { siftDown(last, from: 0) }
    }

    /// Removes the entries of ended calls, and restores the heap.
    private mutating func removeEnded() {
        entries.removeAll { !$0.isLive }
        for index in (0..<entries.count / 2).reversed() { siftDown(entries[index], from: index) }
    }

    /// Moves later parents down into the hole at the index, and puts the entry where the hole ends.
    private mutating func siftUp(_ entry: Entry, from start: Int) {
        var hole = start
        while hole > 0 {
            let parent = (hole - 1) / 2
            guard entry.deadline < entries[parent].deadline else { break }
            entries[hole] = entries[parent]
            hole = parent
        }
        entries[hole] = entry
    }

    /// Moves earlier children up into the hole at the index, and puts the entry where the hole ends.
    private mutating func siftDown(_ entry: Entry, from start: Int) {
        var hole = start
        while true {
            var child = 2 * hole + 1
            guard child < entries.count else { break }
            if child + 1 < entries.count, entries[child + 1].deadline < entries[child].deadline { child += 1 }
            guard entries[child].deadline < entry.deadline else { break }
            entries[hole] = entries[child]
            hole = child
        }
        entries[hole] = entry
    }
}
