import BridgeJSON

/// A reader of the patterns in the options of `bridge.subscribe` and `bridge.unsubscribe`, within a share of the loop.
struct PatternReader {
    private var names: NameReader
    private var known: Set<EventPattern> = []
    /// The patterns that have been read, without duplicates.
    private(set) var patterns: [EventPattern] = []

    init(_ names: NameReader) { self.names = names }

    /// Continues to read, and returns true once all have been read.
    ///
    /// - Throws: `options.invalid` if a string is no pattern.
    mutating func read(until budget: StepBudget) throws(BridgeError) -> Bool {
        while let (index, name) = try names.next() {
            guard let pattern = EventPattern(name) else {
                throw BridgeError(
                    JSONMismatch(
                        path: "$.events[\(index)]", expected: "the name of an event: \(EventPattern.rule)",
                        got: "\"\(name.prefix(64))\""))
            }
            if known.insert(pattern).inserted { patterns.append(pattern) }
            if budget.isSpent { return false }
        }
        return true
    }
}
