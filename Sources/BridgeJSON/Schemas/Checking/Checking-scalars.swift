// The rules for numbers and strings, and for constants.
extension Checking {
    mutating func numberFits(_ node: Int, _ rule: SchemaRule, _ schemaIndex: SchemaIndex) throws(SchemaExcess) -> Bool {
        switch rule {
        case .minimum(let bound): try order(node, bound) >= 0 || fail(node, words(schemaIndex))
        case .exclusiveMinimum(let bound): try order(node, bound) > 0 || fail(node, words(schemaIndex))
        case .maximum(let bound): try order(node, bound) <= 0 || fail(node, words(schemaIndex))
        case .exclusiveMaximum(let bound): try order(node, bound) < 0 || fail(node, words(schemaIndex))
        case .multipleOf(let divisor):
            try isMultiple(node, divisor) || fail(node, "a multiple of \(SchemaWords(graph).shown(divisor))")
        default: true
        }
    }

    private func decimal(_ node: Int) throws(SchemaExcess) -> DecimalText {
        guard let decimal = DecimalText(tape.bytes(node)) else { throw .exponent }
        return decimal
    }

    mutating func isInteger(_ node: Int) throws(SchemaExcess) -> Bool {
        if tape.nodes[node].isPlainInteger { return true }
        try budget.spend(bytes: 4 * Int(tape.nodes[node].count))
        return try decimal(node).isInteger
    }

    /// Compares a number with one of the schema.
    private mutating func order(_ node: Int, _ bound: SchemaRange) throws(SchemaExcess) -> Int {
        try budget.spend(bytes: 4 * (Int(tape.nodes[node].count) + Int(bound.count)))
        let number = try decimal(node)
        // The bound was already read when the schema was compiled.
        return graph.withBytes(bound) { DecimalText($0).map(number.order(with:)) } ?? 0
    }

    private mutating func isMultiple(_ node: Int, _ divisor: SchemaRange) throws(SchemaExcess) -> Bool {
        try budget.spend(bytes: 16 * (Int(tape.nodes[node].count) + Int(divisor.count)))
        let number = try decimal(node)
        return graph.withBytes(divisor) { DecimalText($0).map(number.isMultiple(of:)) } ?? false
    }

    // MARK: Strings

    mutating func stringFits(_ node: Int, _ rule: SchemaRule) throws(SchemaExcess) -> Bool {
        switch rule {
        case .lengths(let counts):
            let bytes = Int(tape.nodes[node].count)
            // A surrogate pair in escapes is the longest form of a scalar.
            if bytes <= counts.maximum, bytes / Self.maximumScalarBytes >= counts.minimum { return true }
            try budget.spend(content: tape.nodes[node])
            return fits(length(node), counts, "a string", "characters")
        case .pattern(let index):
            return try matches(node, index) || fail(node, "a string with the pattern \(source(index))")
        default: return true
        }
    }

    /// The bytes of `\uD834\uDD1E`.
    private static let maximumScalarBytes = 12

    /// The length in Unicode scalars.
    private func length(_ node: Int) -> Int {
        tape.nodes[node].withContent(text: tape.text) { content in
            content.reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) }
        }
    }

    /// Whether a string, or a key, contains a match of a pattern.
    mutating func matches(_ node: Int, _ index: UInt32) throws(SchemaExcess) -> Bool {
        let pattern = graph.patterns[Int(index)]
        try spendCompiling(pattern, index)
        try budget.spend(content: tape.nodes[node])
        try budget.spend(Self.patternSteps + Int(tape.nodes[node].count) * Int(pattern.weight))
        return try graph.withBytes(pattern.text) { pattern in
            tape.nodes[node].withContent(text: tape.text) { text in
                Result { () throws(SchemaExcess) in try PatternEngine.matches(pattern, text, atOnce: isQuick) }
            }
        }.get()
    }

    /// Takes the steps for a pattern that may have left the cache: the first match compiles it. They are taken in any
    /// case, so that the limit does not depend on other checks.
    private mutating func spendCompiling(_ pattern: SchemaPattern, _ index: UInt32) throws(SchemaExcess) {
        let bit: UInt64 = 1 << UInt64(index)
        if isQuick || compiledPatterns & bit != 0 { return }
        compiledPatterns |= bit
        try budget.spend(Int(pattern.compileSteps))
    }

    /// The cost of a match in addition to its text.
    private static let patternSteps = 100

    func source(_ pattern: UInt32) -> String { SchemaWords(graph).source(pattern) }

    // MARK: Counts and constants

    func fits(_ count: Int, _ allowed: SchemaCounts, _ what: String, _ parts: String) -> Bool {
        allowed.contains(count) || fail("\(what) of \(SchemaWords.range(allowed)) \(parts)", "\(count)")
    }

    /// Whether a value equals one of some constants.
    mutating func isOne(of range: SchemaRange, _ node: Int) throws(SchemaExcess) -> Bool {
        let hash = try hash(node)
        try budget.spend(UInt32.bitWidth - range.count.leadingZeroBitCount)
        var (low, high) = (range.indices.lowerBound, range.indices.upperBound)
        while low < high {
            let middle = (low + high) / 2
            if graph.constants[middle].hash < hash { low = middle + 1 } else { high = middle }
        }
        while low < range.indices.upperBound, graph.constants[low].hash == hash {
            if try isConstant(low, node) { return true }
            low += 1
        }
        return false
    }

    private mutating func hash(_ node: Int) throws(SchemaExcess) -> UInt64 {
        if let hashed, hashed.node == node { return hashed.hash }
        let hash = try SchemaValues.hash(node, of: tape, &budget)
        hashed = (node, hash)
        return hash
    }

    private mutating func isConstant(_ index: Int, _ node: Int) throws(SchemaExcess) -> Bool {
        let text = graph.constants[index].text
        try budget.spend(bytes: 8 * Int(text.count))
        let constant = room.constant
        _ = constant.clear()
        var spent = budget
        let result = graph.withBytes(text) { bytes in
            Result { () throws(SchemaExcess) in
                // The constant was already read when the schema was compiled.
                guard (try? constant.read(bytes)) != nil else { return false }
                return try SchemaValues.areEqual(node, of: tape, JSONTape.root, of: constant, &spent)
            }
        }
        budget = spent
        return try result.get()
    }
}
