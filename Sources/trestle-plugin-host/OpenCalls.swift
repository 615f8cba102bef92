import Synchronization
import PluginInterface

/// The calls that the plugin works on, by the daemon's numbers. Each has a slot in an array, not in a hash table,
/// because every call and every answer needs a lookup. Loop thread only, except ``runningTasks``.
struct OpenCalls {
    private struct Slot {
        /// The number of the call; 0, which no call has, for a free slot.
        var number: UInt64 = 0
        /// The number of its task; -1 for a request of the daemon about the plugin itself.
        var task: Int32 = -1
    }

    /// The number of open calls of each task, for any thread. Created once, never freed.
    private final class Counts: @unchecked Sendable {  // constant; its elements are atomic
        let counts: UnsafeMutableBufferPointer<Atomic<Int32>>

        init(_ count: Int) {
            counts = .allocate(capacity: count)
            for index in 0..<count { counts.initializeElement(at: index, to: Atomic(0)) }
        }
    }

    private var slots: [Slot] = []
    private var counts: Counts?

    /// Sets the number of tasks of the plugin. Called before its first call.
    mutating func begin(tasks: Int) { counts = Counts(tasks) }

    mutating func insert(_ number: UInt64, of task: Int? = nil) {
        let index = PluginProcessCallNumber(number).index
        // The daemon uses slots in order, so this grows by one at a time, except for a number that it never assigns.
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
        // Only one thread writes, so load and store need not be one atomic operation.
        counts[task].store(counts[task].load(ordering: .relaxed) &+ change, ordering: .relaxed)
    }

    /// Returns the numbers of the tasks with open calls. The closure may run on any thread, once ``begin(tasks:)`` has
    /// returned.
    var runningTasks: @Sendable () -> [Int] {
        let counts = counts
        return { counts?.counts.indices.filter { counts?.counts[$0].load(ordering: .relaxed) ?? 0 > 0 } ?? [] }
    }
}
