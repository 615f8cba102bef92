/// Compares values of tapes as JSON Schema requires: numbers by their mathematical value, objects in any order.
enum SchemaValues {
    /// Returns the same hash for equal values, with the process's own seed. Recurses once for each level.
    static func hash(_ node: Int, of tape: JSONTape, _ budget: inout SchemaBudget) throws(SchemaExcess) -> UInt64 {
        let value = tape.nodes[node]
        try budget.spend(hashSteps)
        var hasher = Hasher()
        hasher.combine(value.kind)
        switch value.kind {
        case .null, .true, .false: break
        case .number:
            try budget.spend(bytes: Int(value.count) * 8)
            guard let number = DecimalText(tape.bytes(node)) else { throw .exponent }
            number.hash(into: &hasher)
        case .string:
            try budget.spend(content: value)
            value.withContent(text: tape.text) { hasher.combine(bytes: $0) }
        case .array:
            var element = node + 1
            for _ in 0..<value.count {
                hasher.combine(try hash(element, of: tape, &budget))
                element = Int(tape.nodes[element].next)
            }
        case .object:
            var sum: UInt64 = 0
            var key = node + 1
            for _ in 0..<value.count {
                sum &+= try memberHash(key, of: tape, &budget)
                key = Int(tape.nodes[key].next)
            }
            hasher.combine(sum)
        }
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }

    private static func memberHash(
        _ key: Int, of tape: JSONTape, _ budget: inout SchemaBudget
    ) throws(SchemaExcess) -> UInt64 {
        try budget.spend(hashSteps)
        try budget.spend(content: tape.nodes[key])
        var hasher = Hasher()
        tape.nodes[key].withContent(text: tape.text) { hasher.combine(bytes: $0) }
        hasher.combine(try hash(tape.nodes[key].value, of: tape, &budget))
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }

    /// Whether two values are equal. Recurses once for each level.
    static func areEqual(
        _ left: Int, of tape: JSONTape, _ right: Int, of other: JSONTape, _ budget: inout SchemaBudget
    ) throws(SchemaExcess) -> Bool {
        let (one, two) = (tape.nodes[left], other.nodes[right])
        try budget.spend(2)
        guard one.kind == two.kind else { return false }
        switch one.kind {
        case .null, .true, .false: return true
        case .number:
            try budget.spend(bytes: Int(one.count + two.count) * 8)
            guard let first = DecimalText(tape.bytes(left)), let second = DecimalText(other.bytes(right)) else {
                throw .exponent
            }
            return first.order(with: second) == 0
        case .string:
            try budget.spend(content: one)
            try budget.spend(content: two)
            return two.withContent(text: other.text) { one.isKey($0, text: tape.text) }
        case .array:
            guard one.count == two.count else { return false }
            var (element, partner) = (left + 1, right + 1)
            for _ in 0..<one.count {
                guard try areEqual(element, of: tape, partner, of: other, &budget) else { return false }
                (element, partner) = (Int(tape.nodes[element].next), Int(other.nodes[partner].next))
            }
            return true
        case .object:
            guard one.count == two.count else { return false }
            var key = left + 1
            for _ in 0..<one.count {
                guard let partner = try member(key, of: tape, in: right, of: other, &budget),
                    try areEqual(tape.nodes[key].value, of: tape, partner, of: other, &budget)
                else { return false }
                key = Int(tape.nodes[key].next)
            }
            return true
        }
    }

    /// Returns the value of the same key in another object; nil if there is none.
    private static func member(
        _ key: Int, of tape: JSONTape, in object: Int, of other: JSONTape, _ budget: inout SchemaBudget
    ) throws(SchemaExcess) -> Int? {
        try budget.spend(content: tape.nodes[key])
        try budget.spend(memberSteps)
        return tape.nodes[key].withContent(text: tape.text) { other.member($0, of: object, isTaken: false) }
    }

    /// The maximum cost of finding a member: a few are searched linearly, more have a table.
    static let memberSteps = 20
    /// The cost of beginning and ending a hash.
    private static let hashSteps = 10
}
