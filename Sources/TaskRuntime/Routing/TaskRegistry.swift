/// The tasks that can be called, found by the bytes of their name: no string is built to look one up.
///
/// An open table of linear probing, at most half full; names come and go rarely, so that taking one out simply builds
/// the table anew. Loop thread only.
struct TaskRegistry {
    private struct Slot {
        var name: [UInt8]
        var entry: TaskEntry
    }

    private var slots: [Slot?] = Array(repeating: nil, count: 32)
    private(set) var count = 0

    /// All tasks, by name.
    var all: [TaskEntry] { slots.compactMap { $0?.entry }.sorted { $0.name < $1.name } }

    func find(_ name: UnsafeRawBufferPointer) -> TaskEntry? {
        var index = Int(truncatingIfNeeded: Self.hash(name)) & (slots.count - 1)
        while let slot = slots[index] {
            if slot.name.count == name.count, slot.name.elementsEqual(name) { return slot.entry }
            index = (index + 1) & (slots.count - 1)
        }
        return nil
    }

    func find(_ name: String) -> TaskEntry? {
        var name = name
        return name.withUTF8 { find(UnsafeRawBufferPointer($0)) }
    }

    /// Enters a task whose name is not taken.
    mutating func insert(_ entry: TaskEntry) {
        precondition(find(entry.name) == nil, "the name \(entry.name) is taken; the caller has asked before")
        if (count + 1) * 2 > slots.count { rebuild(slotCount: slots.count * 2, without: nil) }
        place(entry)
        count += 1
    }

    mutating func remove(_ entry: TaskEntry) {
        guard find(entry.name) === entry else { return }
        rebuild(slotCount: slots.count, without: entry)
        count -= 1
    }

    private mutating func place(_ entry: TaskEntry) {
        let name = Array(entry.name.utf8)
        let hash = name.withUnsafeBytes { Self.hash($0) }
        var index = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[index] != nil { index = (index + 1) & (slots.count - 1) }
        slots[index] = Slot(name: name, entry: entry)
    }

    private mutating func rebuild(slotCount: Int, without removed: TaskEntry?) {
        let entries = slots.compactMap { $0?.entry }.filter { $0 !== removed }
        slots = Array(repeating: nil, count: slotCount)
        for entry in entries { place(entry) }
    }

    /// FNV-1a, 64 bits, its halves folded. Task names are registered by trusted peers only.
    private static func hash(_ name: UnsafeRawBufferPointer) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in name { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        return hash ^ hash >> 32
    }
}
