/// How much of a user's calls goes on in each plugin though the calls have ended. Loop thread only.
struct UnfinishedCounts {
    private var counts: [UInt64: Int] = [:]
    private var fullCount = 0
    /// How much there may be in a plugin.
    private let maximum: Int

    init(maximum: Int) { self.maximum = maximum }

    var isEmpty: Bool { counts.isEmpty }

    /// Whether there is as much in a plugin as there may be.
    var isFull: Bool { fullCount > 0 }

    /// The maximum, where there is as much in this plugin as there may be.
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
