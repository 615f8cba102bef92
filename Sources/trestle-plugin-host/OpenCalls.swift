import Synchronization
import PluginInterface

/// The calls that the plugin works on, by the daemon's numbers. Asked with every call and every answer, so each has a
/// slot in an array rather than in a hash table. Loop thread only, but for ``runningTasks``.
struct OpenCalls {
    private struct Slot {
        /// 0: none, which no call has for its number.
        var number: UInt64 = 0
        /// The number of its task; -1: what the daemon asks about the plugin itself.
        var task: Int32 = -1
    }

    /// How many calls of each task are open, for any thread. Made once, never freed.
    private final class Counts: @unchecked Sendable {  // constant; its elements are atomic
        let counts: UnsafeMutableBufferPointer<Atomic<Int32>>

        init(_ count: Int) {
            counts = .allocate(capacity: count)
            for index in 0..<count { counts.initializeElement(at: index, to: Atomic(0)) }
        }
    }

    private var slots: [Slot] = []
    private var counts: Counts?

    /// - Parameter tasks: how many tasks the plugin has. Before its first call.
    mutating func begin(tasks: Int) { counts = Counts(tasks) }

    mutating func insert(_ number: UInt64, of task: Int? = nil) {
        let index = PluginProcessCallNumber(number).index
        // Slots are taken in order, so this grows by one at a time but for a number that no daemon of ours would give.
        while slots.count <= index { slots.append(Slot()) }
        slots[index] = Slot(number: number, task: Int32(task ?? -1))
        if let task { count(task, 1) }
    }

    func contains(_ number: UInt64) -> Bool {
        let index = PluginProcessCallNumber(number).index
        return number != 0 && index < slots.count && slots[index].number == number
    }

    mutating func remove(_ number: UInt64) {
        guard contains(number) else { return }
        let index = PluginProcessCallNumber(number).index
        slots[index].number = 0
        if slots[index].task >= 0 { count(Int(slots[index].task), -1) }
    }

    private func count(_ task: Int, _ change: Int32) {
        guard let counts = counts?.counts, task < counts.count else { return }
        // One thread writes.
        counts[task].store(counts[task].load(ordering: .relaxed) &+ change, ordering: .relaxed)
    }

    /// The numbers of the tasks of which calls are open; for any thread, once ``begin(tasks:)`` has returned.
    var runningTasks: @Sendable () -> [Int] {
        let counts = counts
        return { counts?.counts.indices.filter { counts?.counts[$0].load(ordering: .relaxed) ?? 0 > 0 } ?? [] }
    }
}
