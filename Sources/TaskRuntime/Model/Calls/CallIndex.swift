import BridgeMessage

/// A session's calls in flight, found by the id that the session gave them.
///
/// Only calls that outlive the turn in which they arrived are entered. This is an open-addressing hash table with
/// linear probing, at most half full, which uses no memory of its own while it is empty. Ids that collide slow down
/// only the client that chose them, within its own limit of calls.
struct CallIndex {
    /// The number of slots whose memory is kept while the index is empty.
    private static let keptSlots = 64

    private var slots: [Call?] = []
    /// The number of calls in the index.
    private(set) var count = 0

    /// Returns the call with this id; `nil` if there is none.
    func call(of id: CallbackID) -> Call? {
        guard count > 0 else { return nil }
        var index = Int(truncatingIfNeeded: id.hash) & (slots.count - 1)
        while let candidate = slots[index] {
            let record = candidate.record
            if record.pointee.dialect == id.dialect, record.pointee.id.isSame(as: id) { return candidate }
            index = (index + 1) & (slots.count - 1)
        }
        return nil
    }

    mutating func insert(_ call: Call) {
        call.record.pointee.indexHash = call.record.pointee.id.hash
        if (count + 1) * 2 > slots.count { grow() }
        fillSlot(with: call)
        call.record.pointee.isIndexed = true
        count += 1
    }

    mutating func remove(_ call: Call) {
        guard call.record.pointee.isIndexed else { return }
        call.record.pointee.isIndexed = false
        count -= 1
        if count == 0, slots.count > Self.keptSlots {
            slots = []
        } else {
            clear(position(of: call))
        }
    }

    private func position(of call: Call) -> Int {
        var index = home(of: call)
        while slots[index] != call { index = (index + 1) & (slots.count - 1) }
        return index
    }

    /// Empties a slot and moves up the following calls that were displaced by it.
    private mutating func clear(_ position: Int) {
        var hole = position
        var index = position
        while true {
            index = (index + 1) & (slots.count - 1)
            guard let call = slots[index] else { break }
            let distance = (index &- home(of: call)) & (slots.count - 1)
            guard distance >= (index &- hole) & (slots.count - 1) else { continue }
            slots[hole] = call
            hole = index
        }
        slots[hole] = nil
    }

    private func home(of call: Call) -> Int {
        Int(truncatingIfNeeded: call.record.pointee.indexHash) & (slots.count - 1)
    }

    private mutating func fillSlot(with call: Call) {
        var index = home(of: call)
        while slots[index] != nil { index = (index + 1) & (slots.count - 1) }
        slots[index] = call
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: nil, count: max(8, old.count * 2))
        for case let call? in old { fillSlot(with: call) }
    }
}
