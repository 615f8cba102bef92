/// The calls that have a deadline, the earliest first. A binary heap in which every call knows its index, so that one
/// that ends early is taken out at once instead of being kept until its time.
struct DeadlineHeap {
    /// The deadline stands beside its call: to compare two of them reads the heap alone, not the calls' records.
    private struct Entry {
        let deadline: RuntimeInstant
        let call: Call
    }

    private var entries: [Entry] = []

    /// The earliest deadline.
    var earliest: RuntimeInstant { entries.first?.deadline ?? .never }

    /// Gives back the memory of calls that have ended, where none is left.
    mutating func trimMemory() {
        if entries.isEmpty { entries = [] }
    }

    /// Takes in a call that has a deadline, which does not change as long as the call is in.
    mutating func insert(_ call: Call) {
        let entry = Entry(deadline: call.deadline, call: call)
        entries.append(entry)
        siftUp(entry, from: entries.count - 1)
    }

    /// Takes a call out; nothing happens where it is not in.
    mutating func remove(_ call: Call) {
        let index = call.record.pointee.heapIndex
        guard index >= 0 else { return }
        call.record.pointee.heapIndex = -1
        let last = entries.removeLast()
        guard last.call != call else { return }
        siftUp(last, from: siftDown(last, from: index))
    }

    /// Takes out the earliest call whose deadline has come.
    mutating func popExpired(at now: RuntimeInstant) -> Call? {
        guard let first = entries.first, first.deadline <= now else { return nil }
        remove(first.call)
        return first.call
    }

    /// Moves earlier entries down into the hole at the index, and puts the entry where it ends.
    private mutating func siftUp(_ entry: Entry, from start: Int) {
        var hole = start
        while hole > 0 {
            let parent = (hole - 1) / 2
            guard entry.deadline < entries[parent].deadline else { break }
            put(entries[parent], at: hole)
            hole = parent
        }
        put(entry, at: hole)
    }

    /// Moves entries before this one up into the hole at the index.
    ///
    /// - Returns: where the hole ends.
    private mutating func siftDown(_ entry: Entry, from start: Int) -> Int {
        var hole = start
        while true {
            var child = 2 * hole + 1
            guard child < entries.count else { return hole }
            if child + 1 < entries.count, entries[child + 1].deadline < entries[child].deadline { child += 1 }
            guard entries[child].deadline < entry.deadline else { return hole }
            put(entries[child], at: hole)
            hole = child
        }
    }

    private mutating func put(_ entry: Entry, at index: Int) {
        entries[index] = entry
        entry.call.record.pointee.heapIndex = index
    }
}
