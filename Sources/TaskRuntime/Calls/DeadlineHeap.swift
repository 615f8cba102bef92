/// The calls that have a deadline, the earliest first. A binary heap.
///
/// A call that ends before its deadline, as most do, is only counted: its entry stays until it comes to the front, or
/// until more than half of the entries are of such calls. Then all of these are taken out together, which costs each
/// of them less than taking it out of the midst of the heap.
struct DeadlineHeap {
    /// The deadline stands beside its call: to compare two of them reads the heap alone, not the calls' records.
    private struct Entry {
        let deadline: RuntimeInstant
        let call: Call
        /// Which of the calls that have this record in turn.
        let generation: UInt32

        /// Whether the call is in flight and its deadline counts.
        var isLive: Bool {
            call.record.pointee.handle.generation == generation && call.record.pointee.hasDeadlineEntry
        }
    }

    /// So many entries of ended calls are kept in any case.
    private static let keptEntries = 64

    private var entries: [Entry] = []
    /// How many of the entries are live.
    private(set) var count = 0

    /// How many entries there are, those of ended calls included.
    var entryCount: Int { entries.count }

    /// No call's deadline is earlier. It may be that of a call that has ended.
    var earliest: RuntimeInstant { entries.first?.deadline ?? .never }

    /// Gives back the memory of calls that have ended, where none is left, and refers to no ended call any longer.
    mutating func trimMemory() {
        if count == 0 { entries = [] } else { removeEnded() }
    }

    /// Takes in a call that has a deadline, which does not change as long as the call is in.
    mutating func insert(_ call: Call) {
        call.record.pointee.hasDeadlineEntry = true
        count += 1
        let entry = Entry(
            deadline: call.deadline, call: call, generation: call.record.pointee.handle.generation)
        entries.append(entry)
        siftUp(entry, from: entries.count - 1)
    }

    /// A call ends, or its deadline no longer counts. Nothing happens where it is not in.
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

    /// Takes out the earliest call whose deadline has come.
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

    /// Takes out the entries of calls that have ended, and makes a heap of the others.
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
