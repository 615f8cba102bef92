/// The number of a user's ended calls on which each plugin still works. Loop thread only.
struct UnfinishedCounts {
    private var counts: [UInt64: Int] = [:]
    private var fullCount = 0
    /// The maximum number for one plugin.
    var maximum: Int {
        didSet { fullCount = counts.values.count { $0 >= maximum } }
    }

    init(maximum: Int) { self.maximum = maximum }

    var isEmpty: Bool { counts.isEmpty }

    /// Whether the maximum is reached in any plugin.
    var isFull: Bool { fullCount > 0 }

    /// Returns the maximum if it is reached in this plugin; otherwise `nil`.
    func limit(reachedIn plugin: UInt64) -> Int? { counts[plugin, default: 0] >= maximum ? maximum : nil }

    mutating func add(in plugin: UInt64) {
        counts[plugin, default: 0] += 1
        if counts[plugin] == maximum { fullCount += 1 }
    }

    mutating func remove(in plugin: UInt64) {
        guard let count = counts[plugin] else { return }
        if count == maximum { fullCount -= 1 }
        counts[plugin] = count > 1 ? count - 1 : nil
    }
}
