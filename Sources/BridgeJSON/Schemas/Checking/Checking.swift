/// One check of one value. One call deeper with each schema that is applied within another, which is bounded.
///
/// A value is never copied: it is looked at where it stands in the tape. Where alternatives are tried, what one of them
/// finds is never read, and not put in words.
struct Checking {
    private let schema: SchemaCheck
    let tape: JSONTape
    let room: SchemaRoom
    var budget: SchemaBudget
    /// Whether it ends where the thread would have to wait.
    let isQuick: Bool
    /// How many alternatives are being tried, one within the other.
    var trialDepth = 0
    private var depth = 0
    /// The resources of the schemas that are being applied, the outermost first; only where the schema has dynamic
    /// references.
    private var scope: [UInt32] = []
    var marks = EvaluatedParts()
    /// The value that was hashed last: many lists of constants may be asked for one.
    var hashed: (node: Int, hash: UInt64)?
    /// The patterns that were paid for, by their indices: a schema has at most 64.
    var compiledPatterns: UInt64 = 0

    /// Schemas that are applied within one another: some for each level that a value may have.
    static let maximumNested = 640
    /// What applying a schema and asking a rule cost.
    private static let schemaSteps = 4
    private static let ruleSteps = 2

    init(_ schema: SchemaCheck, _ room: SchemaRoom, isQuick: Bool) {
        (self.schema, self.room, tape, self.isQuick) = (schema, room, room.tape, isQuick)
        budget = SchemaBudget(steps: isQuick ? SchemaBudget.quickSteps : SchemaBudget.checkSteps)
    }

    /// Borrowed: a copy would count each of its rows.
    var graph: SchemaGraph {
        @inline(__always) _read { yield schema.graph }
    }

    /// Whether a value fits a schema.
    ///
    /// - Parameter known: where to note which of the value's parts were looked at; none: no caller asks.
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

    /// Rules that look at values of all kinds.
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

    /// Where a dynamic reference leads: to the outermost resource that has the anchor.
    private mutating func outermost(_ name: UInt32) throws(SchemaExcess) -> SchemaIndex? {
        for resource in scope {
            try budget.spend(SchemaValues.memberSteps)
            if let index = graph.dynamicAnchors[DynamicAnchor(name: name, resource: resource)] { return index }
        }
        return nil
    }

    /// Room for noting which parts of a value were looked at; none where it has no parts.
    mutating func newMarks(_ node: Int) throws(SchemaExcess) -> EvaluatedParts.Set {
        guard tape.kind(node) == .array || tape.kind(node) == .object else { return .none }
        let count = Int(tape.nodes[node].count)
        try budget.spend(EvaluatedParts.wordCount(count))
        return marks.add(count)
    }

    // MARK: Words

    func words(_ schemaIndex: SchemaIndex) -> String { SchemaWords(graph).words(schemaIndex) }

    /// What does not fit: false. Words are made only where they are read.
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

    /// Something does not fit within a part of the value: false.
    func failed(within step: @autoclosure () -> PathStep?) -> Bool {
        if trialDepth == 0, let step = step() { room.misfit.steps.append(step) }
        return false
    }
}

/// What does not fit, with the steps to it from the inside out: a path is made only where one is reported.
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
