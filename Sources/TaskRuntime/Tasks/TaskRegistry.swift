import Glibc

/// The tasks that can be called, found by the bytes of their name. A lookup builds no string and counts no reference.
///
/// A hash table with linear probing, at most half full. The hash is seeded, so that clients, which choose names, cannot
/// choose names that collide. A removal moves the following entries up. Loop thread only.
///
/// docs/architecture.md explains `@exclusivity(unchecked)`.
final class TaskRegistry {
    /// The interceptors of calls of the tasks.
    private(set) var interceptors = InterceptorRegistry()
    /// The meters that count calls of tasks.
    private var meters = CallMeters()
    /// The same tasks in the bytewise order of their names.
    @exclusivity(unchecked) private var order = TaskOrder()
    private var lastNumber: UInt64 = 0
    /// Tasks that were removed while calls of them were in flight. They are kept here because calls do not retain their
    /// tasks.
    private var retired: [TaskEntry] = []
    private var retiredBound = 16
    /// The seed of this table only.
    let seed = NameHash.Seed.random()
    /// The table owns the tasks.
    @exclusivity(unchecked) private var slots: UnsafeMutablePointer<Unmanaged<TaskEntry>?>
    @exclusivity(unchecked) private var slotCount = 32

    init() {
        slots = .allocate(capacity: slotCount)
        slots.initialize(repeating: nil, count: slotCount)
    }

    deinit {
        for slot in 0..<slotCount { slots[slot]?.release() }
        slots.deallocate()
    }

    /// All tasks, in the order of their names.
    var all: TaskOrder { order }
    var count: Int { order.count }

    /// Returns the tasks whose names follow this one, in the order of their names.
    func after(_ name: String) -> Slice<TaskOrder> { order.after(name) }

    /// Returns the task with this name; `nil` if there is none. It is valid until a task is removed, and for its calls
    /// until they have ended.
    @inline(__always)
    func find(_ name: UnsafeRawBufferPointer) -> Unmanaged<TaskEntry>? {
        var index = home(of: name)
        while let entry = slots[index] {
            if entry._withUnsafeGuaranteedRef({ Self.isSame($0.nameBytes, name) }) { return entry }
            index = (index + 1) & (slotCount - 1)
        }
        return nil
    }

    func find(_ name: String) -> TaskEntry? {
        var name = name
        return name.withUTF8 { find(UnsafeRawBufferPointer($0))?.takeUnretainedValue() }
    }

    /// Returns the name of the task with this number; `nil` if it was removed.
    func name(of number: UInt64) -> String? { order.first { $0.number == number }?.name }

    /// Inserts a task. The caller has checked that its name is not in use.
    func insert(_ entry: TaskEntry) {
        lastNumber += 1
        entry.number = lastNumber
        entry.interceptors = interceptors.those(of: entry)
        entry.meters = meters.those(of: entry)
        order.insert(entry)
        if order.count * 2 > slotCount { grow() }
        fillSlot(with: .passRetained(entry))
    }

    /// Changes the interceptors and updates all tasks.
    func changeInterceptors(_ change: (inout InterceptorRegistry) -> Void) {
        change(&interceptors)
        for entry in order { entry.interceptors = interceptors.those(of: entry) }
    }

    /// Replaces the meters that count calls of tasks.
    func setMeters(_ meters: CallMeters) {
        self.meters = meters
        for entry in order { entry.meters = meters.those(of: entry) }
    }

    func remove(_ entry: TaskEntry) {
        guard order.remove(entry) else { return }
        clear(slot(of: entry))
        retire(entry)
        Unmanaged.passUnretained(entry).release()
    }

    /// Retains a task until its calls have ended. Tasks without calls are released when the number of retired tasks has
    /// doubled, so that the cost for each task is constant.
    private func retire(_ entry: TaskEntry) {
        guard entry.statistics.inFlight > 0 else { return }
        if retired.count >= retiredBound {
            retired.removeAll { $0.statistics.inFlight == 0 }
            retiredBound = max(16, retired.count * 2)
        }
        retired.append(entry)
    }

    private func slot(of entry: TaskEntry) -> Int {
        var index = home(of: entry.nameBytes)
        while slots[index]?.toOpaque() != Unmanaged.passUnretained(entry).toOpaque() {
            index = (index + 1) & (slotCount - 1)
        }
        return index
    }

    /// Empties a slot and moves up the following entries that it had displaced.
    private func clear(_ position: Int) {
        var hole = position
        var index = position
        while true {
            index = (index + 1) & (slotCount - 1)
            guard let entry = slots[index] else { break }
            let distance = entry._withUnsafeGuaranteedRef { (index &- home(of: $0.nameBytes)) & (slotCount - 1) }
            guard distance >= (index &- hole) & (slotCount - 1) else { continue }
            slots[hole] = entry
            hole = index
        }
        slots[hole] = nil
    }

    private func fillSlot(with entry: Unmanaged<TaskEntry>) {
        let name = entry._withUnsafeGuaranteedRef { $0.nameBytes }
        var index = home(of: name)
        while let other = slots[index] {
            precondition(
                !other._withUnsafeGuaranteedRef { Self.isSame($0.nameBytes, name) },
                "the name \(String(decoding: name, as: UTF8.self)) is taken")
            index = (index + 1) & (slotCount - 1)
        }
        slots[index] = entry
    }

    private func grow() {
        let (old, oldCount) = (slots, slotCount)
        slotCount *= 2
        slots = .allocate(capacity: slotCount)
        slots.initialize(repeating: nil, count: slotCount)
        for slot in 0..<oldCount { if let entry = old[slot] { fillSlot(with: entry) } }
        old.deallocate()
    }

    @inline(__always)
    private static func isSame(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard left.count == right.count else { return false }
        guard let left = left.baseAddress, let address = right.baseAddress else { return true }
        return memcmp(left, address, right.count) == 0
    }

    @inline(__always)
    private func home(of name: UnsafeRawBufferPointer) -> Int {
        Int(truncatingIfNeeded: NameHash.hash(of: name, seed)) & (slotCount - 1)
    }
}
