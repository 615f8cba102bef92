import Glibc

/// The tasks that can be called, found by the bytes of their name: no string is built to look one up, and no reference
/// is counted.
///
/// An open table of linear probing, at most half full; names come and go rarely, so that taking one out simply builds
/// the table anew. Loop thread only.
///
/// `@exclusivity(unchecked)`, here on what every call touches: one thread uses it, and no access to it lasts while anything
/// else of it is called, so that the checks, a large part of a call's cost, would find nothing.
final class TaskRegistry {
    /// Who intercepts calls of the tasks.
    private(set) var interceptors = InterceptorRegistry()
    /// What calls of tasks are counted by.
    private var meters = CallMeters()
    /// Who owns the tasks that the table points to.
    private var entries: [TaskEntry] = []
    private var lastNumber: UInt64 = 0
    /// Taken out while calls of them were in flight: calls do not hold on to their tasks.
    private var retired: [TaskEntry] = []
    @exclusivity(unchecked) private var slots: UnsafeMutablePointer<Unmanaged<TaskEntry>?>
    @exclusivity(unchecked) private var slotCount = 32

    init() {
        slots = .allocate(capacity: slotCount)
        slots.initialize(repeating: nil, count: slotCount)
    }

    deinit { slots.deallocate() }

    /// All tasks, by name.
    var all: [TaskEntry] { entries.sorted { $0.name < $1.name } }
    var count: Int { entries.count }

    /// The task of this name. Good until tasks are taken out, and for its calls until they have ended.
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

    /// Enters a task whose name is not taken.
    func insert(_ entry: TaskEntry) {
        precondition(find(entry.name) == nil, "the name \(entry.name) is taken; the caller has asked before")
        lastNumber += 1
        entry.number = lastNumber
        entry.interceptors = interceptors.those(of: entry)
        entry.meters = meters.those(of: entry)
        entries.append(entry)
        if entries.count * 2 > slotCount { rebuild(slotCount: slotCount * 2) } else { place(entry) }
    }

    /// Changes who intercepts, for all tasks.
    func changeInterceptors(_ change: (inout InterceptorRegistry) -> Void) {
        change(&interceptors)
        for entry in entries { entry.interceptors = interceptors.those(of: entry) }
    }

    /// Has calls of tasks be counted by these, all of which are new.
    func setMeters(_ meters: CallMeters) {
        self.meters = meters
        for entry in entries { entry.meters = meters.those(of: entry) }
    }

    func remove(_ entry: TaskEntry) {
        guard let index = entries.firstIndex(where: { $0 === entry }) else { return }
        entries.remove(at: index)
        rebuild(slotCount: slotCount)
        retired.removeAll { $0.statistics.inFlight == 0 }
        if entry.statistics.inFlight > 0 { retired.append(entry) }
    }

    private func place(_ entry: TaskEntry) {
        var index = home(of: entry.nameBytes)
        while slots[index] != nil { index = (index + 1) & (slotCount - 1) }
        slots[index] = .passUnretained(entry)
    }

    private func rebuild(slotCount: Int) {
        slots.deallocate()
        self.slotCount = slotCount
        slots = .allocate(capacity: slotCount)
        slots.initialize(repeating: nil, count: slotCount)
        for entry in entries { place(entry) }
    }

    @inline(__always)
    private static func isSame(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard left.count == right.count else { return false }
        guard let left = left.baseAddress, let address = right.baseAddress else { return true }
        return memcmp(left, address, right.count) == 0
    }

    /// FNV-1a, 64 bits, its halves folded. Task names are registered by trusted peers only.
    @inline(__always)
    private func home(of name: UnsafeRawBufferPointer) -> Int {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in name { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        return Int(truncatingIfNeeded: hash ^ hash >> 32) & (slotCount - 1)
    }
}
