/// The calls that have a deadline, the earliest first. A binary heap in which every call knows its index, so that one
/// that ends early is taken out at once instead of being kept until its time.
struct DeadlineHeap {
    private var calls: [Call] = []

    /// The earliest deadline.
    var earliest: RuntimeInstant { calls.first?.deadline ?? .never }

    /// Gives back the memory of calls that have ended, where none is left.
    mutating func trimMemory() {
        if calls.isEmpty { calls = [] }
    }

    /// Takes in a call that has a deadline.
    mutating func insert(_ call: Call) {
        call.record.pointee.heapIndex = calls.count
        calls.append(call)
        siftUp(call.record.pointee.heapIndex)
    }

    /// Takes a call out; nothing happens where it is not in.
    mutating func remove(_ call: Call) {
        let index = call.record.pointee.heapIndex
        guard index >= 0 else { return }
        call.record.pointee.heapIndex = -1
        let last = calls.removeLast()
        guard last != call else { return }
        calls[index] = last
        last.record.pointee.heapIndex = index
        siftDown(index)
        siftUp(last.record.pointee.heapIndex)
    }

    /// Takes out the earliest call whose deadline has come.
    mutating func popExpired(at now: RuntimeInstant) -> Call? {
        guard let first = calls.first, first.deadline <= now else { return nil }
        remove(first)
        return first
    }

    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        calls[left].deadline < calls[right].deadline
    }

    private mutating func siftUp(_ start: Int) {
        var index = start
        while index > 0 {
            let parent = (index - 1) / 2
            guard isBefore(index, parent) else { return }
            swap(index, parent)
            index = parent
        }
    }

    private mutating func siftDown(_ start: Int) {
        var index = start
        while true {
            var first = index
            let left = 2 * index + 1
            if left < calls.count, isBefore(left, first) { first = left }
            if left + 1 < calls.count, isBefore(left + 1, first) { first = left + 1 }
            guard first != index else { return }
            swap(index, first)
            index = first
        }
    }

    private mutating func swap(_ left: Int, _ right: Int) {
        calls.swapAt(left, right)
        calls[left].record.pointee.heapIndex = left
        calls[right].record.pointee.heapIndex = right
    }
}
