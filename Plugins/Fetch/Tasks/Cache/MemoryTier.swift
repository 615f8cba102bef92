import HTTPRules
import Synchronization

/// The entries of the most recently used URLs, in memory, so that a lookup does not wait for the store's thread. That
/// thread fills the tier after its own changes; only ``update(_:remove:at:)`` runs before them. Any thread.
final class MemoryTier: Sendable {
    /// The divisor of the limit for one URL: larger entries are not kept.
    private static let largestPart: Int64 = 8

    private struct Item {
        var entries: [CacheEntry]
        var bytes: Int64
        /// The mark of the last use. Older marks in the line are obsolete.
        var mark: UInt64
    }

    private struct State {
        var limit: Int64 = 0
        var bytes: Int64 = 0
        var items: [CacheAddress: Item] = [:]
        /// The uses, oldest first, beginning at `first`.
        var line: [(address: CacheAddress, mark: UInt64)] = []
        var first = 0
        var lastMark: UInt64 = 0
        /// The used entries that the store must record.
        var used: Set<Int64> = []
    }

    private let state = Mutex(State())

    /// Returns the entries of a URL; `nil` if they are not in memory.
    func entries(at address: CacheAddress) -> [CacheEntry]? {
        state.withLock { state in
            guard let entries = state.items[address]?.entries else { return nil }
            Self.mark(address, in: &state)
            return entries
        }
    }

    /// Records that an entry was used.
    func note(used id: Int64) { state.withLock { _ = $0.used.insert(id) } }

    /// Returns the entries that were used since the last call.
    func takeUsed() -> Set<Int64> {
        state.withLock { state in
            defer { state.used = [] }
            return state.used
        }
    }

    /// Sets the entries of a URL.
    func put(_ entries: [CacheEntry], at address: CacheAddress) {
        let bytes = entries.reduce(Int64(address.partition.site.utf8.count) + CacheEntry.overheadBytes) {
            $0 + $1.memoryBytes
        }
        state.withLock { state in
            Self.remove(address, from: &state)
            guard bytes <= state.limit / Self.largestPart else { return }
            state.items[address] = Item(entries: entries, bytes: bytes, mark: 0)
            state.bytes += bytes
            Self.mark(address, in: &state)
            Self.shrink(&state)
        }
    }

    /// Changes the fields of entries in memory, and removes others, before the store does the same.
    func update(_ responses: [StoredResponse], remove ids: [Int64], at address: CacheAddress) {
        state.withLock { state in
            guard var item = state.items[address] else { return }
            item.entries.removeAll { ids.contains($0.response.id) }
            for index in item.entries.indices {
                let id = item.entries[index].response.id
                if let response = responses.first(where: { $0.id == id }) { item.entries[index].response = response }
            }
            state.items[address] = item
        }
    }

    /// Removes the entries of a user; of all users if `uid` is `nil`.
    func removeAll(of uid: UInt32?) {
        state.withLock { state in
            for address in state.items.keys where uid.map({ address.partition.uid == $0 }) ?? true {
                Self.remove(address, from: &state)
            }
        }
    }

    /// Sets the maximum number of bytes.
    func limit(to bytes: Int64) {
        state.withLock { state in
            state.limit = bytes
            Self.shrink(&state)
        }
    }

    /// The number of bytes in memory.
    var byteCount: Int64 { state.withLock { $0.bytes } }

    private static func remove(_ address: CacheAddress, from state: inout State) {
        guard let item = state.items.removeValue(forKey: address) else { return }
        state.bytes -= item.bytes
    }

    private static func mark(_ address: CacheAddress, in state: inout State) {
        state.lastMark += 1
        state.items[address]?.mark = state.lastMark
        state.line.append((address, state.lastMark))
        // Rebuilds the line when most of its marks are obsolete.
        guard state.line.count > 64, state.line.count > 4 * state.items.count else { return }
        state.line = state.line[state.first...].filter { state.items[$0.address]?.mark == $0.mark }
        state.first = 0
    }

    private static func shrink(_ state: inout State) {
        while state.bytes > state.limit, state.first < state.line.count {
            let oldest = state.line[state.first]
            state.first += 1
            if state.items[oldest.address]?.mark == oldest.mark { remove(oldest.address, from: &state) }
        }
    }
}
