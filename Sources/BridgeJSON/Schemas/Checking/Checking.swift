/// One check of one value. Recurses once for each nested schema; the depth is limited.
///
/// A value is never copied: it is read from the tape. When alternatives are tried, their misfits are not read, and so
/// no text is created for them.
struct Checking {
    private let schema: SchemaCheck
    let tape: JSONTape
    let room: SchemaRoom
    var budget: SchemaBudget
    /// Whether the check ends if the thread would have to wait.
    let isQuick: Bool
    /// The number of nested alternatives that are being tried.
    var trialDepth = 0
    private var depth = 0
    /// The resources of the schemas that are being applied, the outermost first. Only used if the schema has dynamic
    /// references.
    private var scope: [UInt32] = []
    var marks = EvaluatedParts()
    /// The value that was hashed last: it may be compared with many lists of constants.
    var hashed: (node: Int, hash: UInt64)?
    /// The patterns whose steps have been taken, by their indices: a schema has at most 64.
    var compiledPatterns: UInt64 = 0

    /// The maximum number of nested schemas: several for each level that a value may have.
    static let maximumNested = 640
    /// The costs of applying a schema and of checking a rule.
    private static let schemaSteps = 4
    private static let ruleSteps = 2

    init(_ schema: SchemaCheck, _ room: SchemaRoom, isQuick: Bool) {
        (self.schema, self.room, tape, self.isQuick) = (schema, room, room.tape, isQuick)
        budget = SchemaBudget(steps: isQuick ? SchemaBudget.quickSteps : SchemaBudget.checkSteps)
    }

    /// Borrowed: a copy would retain each of its arrays.
    var graph: SchemaGraph {
        @inline(__always) _read { yield schema.graph }
    }

    /// Whether a value fits a schema.
    ///
    /// - Parameter known: The set in which evaluated parts of the value are marked; none if the caller does not need
    ///   it.
    mutating func fits(
        _ node: Int, _ schemaIndex: SchemaIndex, _ known: EvaluatedParts.Set
    ) throws(SchemaExcess) -> Bool {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maximumNested else { throw .nesting }
        let schema = graph.schemas[Int(schemaIndex)]
        try budget.spend(Self.schemaSteps + Self.ruleSteps * Int(schema.rules.count))
        if !graph.dynamicAnchors.isEmpty { scope.append(schema.resource) }
        defer { if !graph.dynamicAnchors.isEmpty { scope.removeLast() } }
        guard schema.hasUnevaluated else { return try fitsRules(node, schemaIndex, schema, known) }
        let own = try newMarks(node)
        defer { marks.remove(own) }
        guard try fitsRules(node, schemaIndex, schema, own) else { return false }
        marks.merge(own, into: known)
        return true
    }

    private mutating func fitsRules(
        _ node: Int, _ schemaIndex: SchemaIndex, _ schema: SchemaNode, _ known: EvaluatedParts.Set
    ) throws(SchemaExcess) -> Bool {
        for index in schema.rules.indices {
            let rule = graph.rules[index]
            let fits =
                switch tape.kind(node) {
                case .number: try numberFits(node, rule, schemaIndex)
                case .string: try stringFits(node, rule)
                case .array: try arrayFits(node, rule, known)
                case .object: try objectFits(node, rule, known)
                case .null, .true, .false: true
                }
            if !fits { return false }
            guard try valueFits(node, rule, schemaIndex, known) else { return false }
        }
        return true
    }

    /// Checks the rules for values of all kinds.
    private mutating func valueFits(
        _ node: Int, _ rule: SchemaRule, _ schemaIndex: SchemaIndex, _ known: EvaluatedParts.Set
    ) throws(SchemaExcess) -> Bool {
        switch rule {
        case .nothing: fail(node, "nothing")
        case .kinds(let kinds): try isOf(kinds, node) || fail(node, words(schemaIndex))
        case .constants(let range): try isOne(of: range, node) || fail(node, words(schemaIndex))
        case .apply(let other): try fits(node, other, known)
        case .dynamic(let name, let otherwise): try fits(node, outermost(name) ?? otherwise, known)
        case .all(let range): try fitsAll(node, range, known)
        case .any(let range): try fitsAny(node, range, known)
        case .one(let range): try fitsOne(node, range, known)
        case .not(let refused): try !isFitting(node, refused, .none) || fail(node, "anything but \(words(refused))")
        case .condition(let index): try fitsCondition(node, Int(index), known)
        default: true
        }
    }

    /// Whether a value fits a schema that is only tried.
    mutating func isFitting(
        _ node: Int, _ schemaIndex: SchemaIndex, _ known: EvaluatedParts.Set
    ) throws(SchemaExcess) -> Bool {
        trialDepth += 1
        defer { trialDepth -= 1 }
        return try fits(node, schemaIndex, known)
    }

    mutating func isOf(_ kinds: SchemaKinds, _ node: Int) throws(SchemaExcess) -> Bool {
        switch tape.kind(node) {
        case .null: kinds.contains(.null)
        case .true, .false: kinds.contains(.boolean)
        case .number: kinds.contains(.number) ? true : kinds.contains(.integer) ? try isInteger(node) : false
        case .string: kinds.contains(.string)
        case .array: kinds.contains(.array)
        case .object: kinds.contains(.object)
        }
    }

    /// Returns the target of a dynamic reference: the anchor in the outermost resource that has it. Nil if there is
    /// none.
    private mutating func outermost(_ name: UInt32) throws(SchemaExcess) -> SchemaIndex? {
        for resource in scope {
            try budget.spend(SchemaValues.memberSteps)
            if let index = graph.dynamicAnchors[DynamicAnchor(name: name, resource: resource)] { return index }
        }
        return nil
    }

    /// Creates a set for marking the evaluated parts of a value; none if the value has no parts.
    mutating func newMarks(_ node: Int) throws(SchemaExcess) -> EvaluatedParts.Set {
        guard tape.kind(node) == .array || tape.kind(node) == .object else { return .none }
        let count = Int(tape.nodes[node].count)
        try budget.spend(EvaluatedParts.wordCount(count))
        return marks.add(count)
    }

    // MARK: Words

    func words(_ schemaIndex: SchemaIndex) -> String { SchemaWords(graph).words(schemaIndex) }

    /// Records a misfit and returns false. The text is created only if it will be read.
    func fail(
        _ node: Int, _ expected: @autoclosure () -> String, at step: PathStep? = nil
    ) -> Bool {
        fail(expected(), tape.describe(node), at: step)
    }

    func fail(
        _ expected: @autoclosure () -> String, _ got: @autoclosure () -> String, at step: PathStep? = nil,
        knownKeys: @autoclosure () -> [String]? = nil, similarKey: @autoclosure () -> String? = nil
    ) -> Bool {
        if trialDepth > 0 { return false }
        room.misfit = Misfit(expected: expected(), got: got(), knownKeys: knownKeys(), similarKey: similarKey())
        return failed(within: step)
    }

    /// Records that a part of the value does not fit, and returns false.
    func failed(within step: @autoclosure () -> PathStep?) -> Bool {
        if trialDepth == 0, let step = step() { room.misfit.steps.append(step) }
        return false
    }
}

/// A misfit, with the steps to it from the inside out. Its path is created only when it is reported.
struct Misfit {
    var steps: [PathStep] = []
    var expected = ""
    var got = ""
    var knownKeys: [String]?
    var similarKey: String?

    var mismatch: JSONMismatch {
        let path = Array(steps.reversed()).codingPath.text
        var mismatch = JSONMismatch(path: path, expected: expected, got: got, knownKeys: knownKeys)
        mismatch.similarKey = similarKey
        return mismatch
    }
}
