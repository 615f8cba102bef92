// The rules for arrays.
extension Checking {
    mutating func arrayFits(
        _ node: Int, _ rule: SchemaRule, _ known: EvaluatedParts.Set
    ) throws(SchemaExcess) -> Bool {
        switch rule {
        case .elementCounts(let counts): fits(Int(tape.nodes[node].count), counts, "an array", "elements")
        case .firstElements(let range): try firstElementsFit(node, range, known)
        case .elements(let wanted, let start): try elementsFit(node, wanted, Int(start), known)
        case .contains(let index): try containsEnough(node, graph.contained[Int(index)], known)
        case .unique: try isUnique(node)
        case .unevaluatedElements(let wanted): try unevaluatedElementsFit(node, wanted, known)
        default: true
        }
    }

    private mutating func elementFits(
        _ element: Int, _ index: Int, _ wanted: SchemaIndex
    ) throws(SchemaExcess) -> Bool {
        try fits(element, wanted, .none) || failed(within: .index(index))
    }

    private mutating func firstElementsFit(
        _ node: Int, _ range: SchemaRange, _ known: EvaluatedParts.Set
    ) throws(SchemaExcess) -> Bool {
        var element = node + 1
        for index in 0..<Int(min(tape.nodes[node].count, range.count)) {
            guard try elementFits(element, index, graph.schemaIndices[range.indices.lowerBound + index]) else {
                return false
            }
            marks.insert(index, into: known)
            element = Int(tape.nodes[element].next)
        }
        return true
    }

    private mutating func elementsFit(
        _ node: Int, _ wanted: SchemaIndex, _ start: Int, _ known: EvaluatedParts.Set
    ) throws(SchemaExcess) -> Bool {
        var element = node + 1
        for index in 0..<Int(tape.nodes[node].count) {
            if index >= start {
                guard try elementFits(element, index, wanted) else { return false }
                marks.insert(index, into: known)
            }
            element = Int(tape.nodes[element].next)
        }
        return true
    }

    private mutating func unevaluatedElementsFit(
        _ node: Int, _ wanted: SchemaIndex, _ known: EvaluatedParts.Set
    ) throws(SchemaExcess) -> Bool {
        var element = node + 1
        for index in 0..<Int(tape.nodes[node].count) {
            try budget.spend(1)
            if !marks.contains(index, in: known) {
                guard try elementFits(element, index, wanted) else { return false }
                marks.insert(index, into: known)
            }
            element = Int(tape.nodes[element].next)
        }
        return true
    }

    private mutating func containsEnough(
        _ node: Int, _ contained: SchemaContained, _ known: EvaluatedParts.Set
    ) throws(SchemaExcess) -> Bool {
        // If the caller needs the evaluated parts, all elements that fit are marked; otherwise the first ones decide.
        let enough: Int? =
            known.isKept
            ? nil : contained.counts.maximum == .max ? Int(contained.counts.minimum) : Int(contained.counts.maximum) + 1
        var count = 0
        var element = node + 1
        for index in 0..<Int(tape.nodes[node].count) {
            if let enough, count >= enough { break }
            if try isFitting(element, contained.schema, .none) {
                count += 1
                marks.insert(index, into: known)
            }
            element = Int(tape.nodes[element].next)
        }
        if contained.counts.contains(count) { return true }
        let isTooMany = count > contained.counts.minimum
        return fail(
            "an array in which \(SchemaWords.range(contained.counts)) elements are \(words(contained.schema))",
            isTooMany ? "more" : "\(count)")
    }

    /// Whether all elements differ: only elements with equal hashes are compared.
    private mutating func isUnique(_ node: Int) throws(SchemaExcess) -> Bool {
        let count = Int(tape.nodes[node].count)
        guard count > 1 else { return true }
        try budget.spend(Self.uniqueSteps * count)
        var slotCount = 4
        while slotCount < count * 2 { slotCount *= 2 }
        var slots = [UInt32](repeating: 0, count: slotCount)
        var elements: [(node: Int, hash: UInt64)] = []
        elements.reserveCapacity(count)
        var element = node + 1
        for index in 0..<count {
            let hash = try SchemaValues.hash(element, of: tape, &budget)
            var slot = Int(truncatingIfNeeded: hash) & (slotCount - 1)
            while slots[slot] != 0 {
                let other = elements[Int(slots[slot]) - 1]
                if other.hash == hash, try SchemaValues.areEqual(element, of: tape, other.node, of: tape, &budget) {
                    return fail(
                        "an element that differs from all others",
                        "\(tape.describe(element)), equal to element \(slots[slot] - 1)",
                        at: .index(index))
                }
                slot = (slot + 1) & (slotCount - 1)
            }
            elements.append((element, hash))
            slots[slot] = UInt32(elements.count)
            element = Int(tape.nodes[element].next)
        }
        return true
    }

    /// The cost of an element's slot in the table.
    private static let uniqueSteps = 4
}
