/// The calls in flight in the order of their numbers. Numbers only grow: a call is appended at the end, and found by
/// binary search.
///
/// A call that ends leaves a gap, unless it is the last one. Gaps are closed once they are more than three quarters of
/// all entries.
struct CallOrder {
    struct Entry {
        let number: UInt64
        /// The slot of the call's record; -1 if the call has ended.
        var slot: Int32
    }

    /// With at most this many entries, gaps are not closed.
    private static let smallCount = 64

    private(set) var entries: [Entry] = []
    private var gapCount = 0

    /// Appends a call whose number is greater than all others.
    ///
    /// - Returns: Its index, valid until ``close(_:)`` reports another.
    @inline(__always)
    mutating func append(number: UInt64, slot: Int) -> Int {
        entries.append(Entry(number: number, slot: Int32(truncatingIfNeeded: slot)))
        return entries.count - 1
    }

    /// Removes a call.
    @inline(__always)
    mutating func remove(at index: Int) {
        guard index == entries.count - 1 else {
            entries[index].slot = -1
            gapCount += 1
            return
        }
        entries.removeLast()
        while gapCount > 0, let last = entries.last, last.slot < 0 {
            entries.removeLast()
            gapCount -= 1
        }
    }

    /// Whether the gaps must be closed.
    @inline(__always)
    var hasManyGaps: Bool { entries.count > Self.smallCount && gapCount * 4 > entries.count * 3 }

    /// Closes all gaps, and frees the memory that is then unused.
    ///
    /// - Parameter move: Called with the slot of each call and its new index.
    mutating func close(_ move: (_ slot: Int, _ index: Int) -> Void) {
        var kept: [Entry] = []
        kept.reserveCapacity(entries.count - gapCount)
        for entry in entries where entry.slot >= 0 {
            move(Int(entry.slot), kept.count)
            kept.append(entry)
        }
        entries = kept
        gapCount = 0
    }

    /// Returns the index of the first entry with a greater number.
    func index(after number: UInt64) -> Int { entries.partition { $0.number > number } }
}

extension RandomAccessCollection where Index == Int {
    /// Returns the index of the first element for which a condition holds, in a collection in which it holds for all
    /// elements after that one and for none before.
    func partition(_ holds: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
