import BridgeJSON

/// The patterns in the options of `bridge.subscribe` and `bridge.unsubscribe`, read within a share of the loop.
struct PatternReader {
    private var names: NameReader
    private var known: Set<EventPattern> = []
    /// Those that have been read, each once.
    private(set) var patterns: [EventPattern] = []

    init(_ names: NameReader) { self.names = names }

    /// Reads on. True: all have been read.
    ///
    /// - Throws: `options.invalid`.
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
