import Glibc

/// The tasks of a registry, sorted by the bytes of their names. The registry owns them, so iteration counts no
/// references. Loop thread only.
struct TaskOrder: RandomAccessCollection {
    private var entries: [Unmanaged<TaskEntry>] = []

    var startIndex: Int { 0 }
    var endIndex: Int { entries.count }
    subscript(index: Int) -> TaskEntry { entries[index].takeUnretainedValue() }

    /// Inserts a task whose name is not present.
    mutating func insert(_ entry: TaskEntry) {
        entries.insert(.passUnretained(entry), at: insertionIndex(for: entry.nameBytes))
    }

    /// Removes a task; returns false if it is not present.
    mutating func remove(_ entry: TaskEntry) -> Bool {
        let index = insertionIndex(for: entry.nameBytes)
        guard index < entries.count, entries[index].toOpaque() == Unmanaged.passUnretained(entry).toOpaque() else {
            return false
        }
        entries.remove(at: index)
        return true
    }

    /// Returns the tasks whose names follow this one.
    func after(_ name: String) -> Slice<TaskOrder> {
        var name = name
        return name.withUTF8 { bytes in
            let bytes = UnsafeRawBufferPointer(bytes)
            return self[entries.partition { Self.precedes(bytes, Self.name(of: $0)) }...]
        }
    }

    private func insertionIndex(for name: UnsafeRawBufferPointer) -> Int {
        entries.partition { !Self.precedes(Self.name(of: $0), name) }
    }

    private static func name(of entry: Unmanaged<TaskEntry>) -> UnsafeRawBufferPointer {
        entry._withUnsafeGuaranteedRef { $0.nameBytes }
    }

    private static func precedes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard let first = left.baseAddress else { return right.count > 0 }
        guard let second = right.baseAddress else { return false }
        let order = memcmp(first, second, Swift.min(left.count, right.count))
        return order != 0 ? order < 0 : left.count < right.count
    }
}
