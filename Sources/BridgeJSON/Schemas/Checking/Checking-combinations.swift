// Schemas that are applied to the same value.
extension Checking {
    mutating func fitsAll(
        _ node: Int, _ range: SchemaRange, _ known: EvaluatedParts.Set
    ) throws(SchemaExcess) -> Bool {
        for index in range.indices {
            guard try fits(node, graph.schemaIndices[index], known) else { return false }
        }
        return true
    }

    mutating func fitsAny(
        _ node: Int, _ range: SchemaRange, _ known: EvaluatedParts.Set
    ) throws(SchemaExcess) -> Bool {
        // Each schema that fits marks the parts that it has evaluated.
        let count = try countFitting(node, range, upTo: known.isKept ? .max : 1, known)
        return count > 0 ? true : try failAmong(node, range)
    }

    mutating func fitsOne(
        _ node: Int, _ range: SchemaRange, _ known: EvaluatedParts.Set
    ) throws(SchemaExcess) -> Bool {
        switch try countFitting(node, range, upTo: 2, known) {
        case 0: try failAmong(node, range)
        case 1: true
        default: fail(node, "exactly one of: \(SchemaWords(graph).words(range))")
        }
    }

    mutating func fitsCondition(
        _ node: Int, _ index: Int, _ known: EvaluatedParts.Set
    ) throws(SchemaExcess) -> Bool {
        let isMet = try isNoted(node, graph.schemaIndices[index], known)
        let consequence = graph.schemaIndices[index + (isMet ? 1 : 2)]
        return consequence == .none ? true : try fits(node, consequence, known)
    }

    private mutating func countFitting(
        _ node: Int, _ range: SchemaRange, upTo maximum: Int, _ known: EvaluatedParts.Set
    ) throws(SchemaExcess) -> Int {
        var count = 0
        for index in range.indices where count < maximum {
            if try isNoted(node, graph.schemaIndices[index], known) { count += 1 }
        }
        return count
    }

    /// Whether a value fits a schema that is only tried. If it does not fit, the parts that the schema has evaluated
    /// are not marked.
    private mutating func isNoted(
        _ node: Int, _ schemaIndex: SchemaIndex, _ known: EvaluatedParts.Set
    ) throws(SchemaExcess) -> Bool {
        guard known.isKept else { return try isFitting(node, schemaIndex, .none) }
        let own = try newMarks(node)
        defer { marks.remove(own) }
        guard try isFitting(node, schemaIndex, own) else { return false }
        marks.merge(own, into: known)
        return true
    }

    /// Reports that none of the schemas fits. If only one is for the value's kind, its mismatch is reported.
    private mutating func failAmong(_ node: Int, _ range: SchemaRange) throws(SchemaExcess) -> Bool {
        if trialDepth > 0 { return false }
        var near: [SchemaIndex] = []
        for schemaIndex in graph.schemas(range) {
            try budget.spend(1)
            for case .kinds(let kinds) in graph.rules(of: schemaIndex).prefix(1) where try isOf(kinds, node) {
                near.append(schemaIndex)
            }
        }
        if near.count == 1, try !fits(node, near[0], .none) { return false }
        return fail(node, SchemaWords(graph).words(range))
    }
}
