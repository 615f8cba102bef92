/// The members or elements of a value that other keywords have evaluated: sets with one bit for each part, used only if
/// a schema has `unevaluatedItems` or `unevaluatedProperties`. The newest set is removed first.
struct EvaluatedParts {
    /// A set, or none if the caller does not need it.
    struct Set {
        fileprivate var start: Int
        fileprivate var wordCount: Int

        static let none = Set(start: 0, wordCount: 0)

        var isKept: Bool { wordCount > 0 }
    }

    private var words: [UInt64] = []

    static func wordCount(_ count: Int) -> Int { count >> 6 + 1 }

    /// Adds an empty set for `count` parts.
    mutating func add(_ count: Int) -> Set {
        let set = Set(start: words.count, wordCount: Self.wordCount(count))
        words.append(contentsOf: repeatElement(0, count: set.wordCount))
        return set
    }

    mutating func remove(_ set: Set) { words.removeLast(set.wordCount) }

    mutating func insert(_ part: Int, into set: Set) {
        if set.isKept { words[set.start + part >> 6] |= 1 << UInt64(part & 63) }
    }

    func contains(_ part: Int, in set: Set) -> Bool {
        set.isKept && words[set.start + part >> 6] & 1 << UInt64(part & 63) != 0
    }

    mutating func merge(_ set: Set, into other: Set) {
        guard set.isKept, other.isKept else { return }
        for index in 0..<set.wordCount { words[other.start + index] |= words[set.start + index] }
    }
}
