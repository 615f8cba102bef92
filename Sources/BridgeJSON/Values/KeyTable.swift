/// A table that finds the keys of one object of a tape by their bytes. It uses the process's own hash seed, so that no
/// client can choose keys that collide.
struct KeyTable {
    /// Objects with fewer members are searched linearly.
    static let smallCount = 16

    /// The nodes of keys, each at or after the slot of its hash. 0, the root, is not a key: it marks an empty slot.
    private var slots: [UInt32]

    private init(keyCount: Int) {
        var slotCount = 2
        while slotCount < keyCount * 2 { slotCount *= 2 }
        slots = [UInt32](repeating: 0, count: slotCount)
    }

    /// Creates the table of an object whose keys are all different.
    init(of object: Int, in nodes: borrowing GrowingBuffer<TapeNode>, text: UnsafeRawPointer) {
        self.init(keyCount: Int(nodes[object].count))
        var key = object + 1
        for _ in 0..<nodes[object].count {
            _ = insert(key, in: nodes, text: text)
            key = Int(nodes[key].next)
        }
    }

    /// Merges members with equal keys into one: the last value, at the position of the first.
    static func joinDuplicates(of object: Int, in nodes: inout GrowingBuffer<TapeNode>, text: UnsafeRawPointer) {
        guard nodes[object].mayHaveDuplicates, nodes[object].count > 1 else { return }
        var table = KeyTable(keyCount: Int(nodes[object].count))
        var key = object + 1
        var previous = key
        for _ in 0..<nodes[object].count {
            let next = nodes[key].next
            if let first = table.insert(key, in: nodes, text: text) {
                nodes[first].value = nodes[key].value
                nodes[previous].next = next
                nodes[object].count -= 1
            } else {
                previous = key
            }
            key = Int(next)
        }
    }

    /// Returns the node of a key; nil if there is none.
    func find(
        _ wanted: UnsafeRawBufferPointer, in nodes: borrowing GrowingBuffer<TapeNode>, text: UnsafeRawPointer
    ) -> Int? {
        var slot = self.slot(wanted)
        while slots[slot] != 0 {
            let key = Int(slots[slot])
            if nodes[key].isKey(wanted, text: text) { return key }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    /// Inserts a key. Returns the node of the same key if it already exists; otherwise nil.
    private mutating func insert(
        _ key: Int, in nodes: borrowing GrowingBuffer<TapeNode>, text: UnsafeRawPointer
    ) -> Int? {
        nodes[key].withContent(text: text) { content in
            var slot = self.slot(content)
            while slots[slot] != 0 {
                let known = Int(slots[slot])
                if nodes[known].isKey(content, text: text) { return known }
                slot = (slot + 1) & (slots.count - 1)
            }
            slots[slot] = UInt32(key)
            return nil
        }
    }

    private func slot(_ content: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: content)
        return hasher.finalize() & (slots.count - 1)
    }
}

extension TapeNode {
    /// Calls `body` with the decoded bytes of a string or key.
    func withContent<R>(text: UnsafeRawPointer, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        let content = UnsafeRawBufferPointer(start: text + Int(start), count: Int(count))
        if !hasEscapes { return body(content) }
        var resolved = Escapes.resolve(content)
        return resolved.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }

    /// Whether a key equals another one. Compares bytes, as JSON requires: two compositions of one accented letter are
    /// two keys.
    @inline(__always)
    func isKey(_ other: UnsafeRawBufferPointer, text: UnsafeRawPointer) -> Bool {
        if hasEscapes { return isEscapedKey(other, text: text) }
        guard count == other.count else { return false }
        guard let address = other.baseAddress else { return true }
        return areEqual(text + Int(start), address, other.count)
    }

    @inline(never)
    private func isEscapedKey(_ other: UnsafeRawBufferPointer, text: UnsafeRawPointer) -> Bool {
        WrittenName.isSame(UnsafeRawBufferPointer(start: text + Int(start), count: Int(count)), as: other)
    }
}
