/// A JSON Schema (2020-12) that texts are checked against. Not thread-safe: a check lends its tape to the next one.
///
/// Checked are types, bounds, lengths, counts, `enum` and `const`, members, elements, `allOf`, `anyOf`, `oneOf`, `not`, and
/// `$ref` within the document; ``uncheckedKeywords`` names what a schema asks besides. Lengths count Unicode scalars.
public final class SchemaCheck {
    /// Keywords of the schema that would refuse values, and are not checked.
    public let uncheckedKeywords: [String]
    private let rules: [SchemaRule]
    private var tape = JSONTape()

    /// How many rules one check may follow: some for each value within the value. A schema can be written whose rules
    /// multiply with each level; beyond this, a value is taken to fit, and who provides the task looks at it.
    private static func mostSteps(valueCount: Int) -> Int { 1_000 + 8 * valueCount }

    /// - Throws: ``JSONSchemaError`` where it is no schema, refers to one that is not in it, or to itself without end.
    public init(_ schema: JSON) throws(JSONSchemaError) {
        let reader = try SchemaReader(schema)
        rules = reader.rules
        uncheckedKeywords = reader.unchecked.sorted()
    }

    /// Whether anything at all fits.
    public var allowsAnything: Bool { rules.count == 1 && rules[0].isEmpty }

    /// Checks one JSON value.
    ///
    /// - Throws: ``JSONMismatch`` that says what does not fit, and where; path `$` where the text is no JSON.
    public func check(_ bytes: UnsafeRawBufferPointer) throws(JSONMismatch) {
        defer { if !tape.clear() { tape = JSONTape() } }
        try tape.read(bytes)
        var checking = Checking(
            rules: rules, tape: tape, stepsLeft: Self.mostSteps(valueCount: tape.nodes.elements.count))
        do throws(Misfit) {
            try checking.check(JSONTape.root, 0)
        } catch {
            guard checking.stepsLeft > 0 else { return }
            throw error.mismatch
        }
    }
}

/// What does not fit, with the steps to it from the inside out: a path is made only where one is told.
private struct Misfit: Error {
    var steps: [PathStep] = []
    var expected: String
    var got: String
    var knownKeys: [String]?

    func within(_ step: PathStep) -> Misfit {
        var outer = self
        outer.steps.append(step)
        return outer
    }

    var mismatch: JSONMismatch {
        JSONMismatch(path: Array(steps.reversed()).codingPath.text, expected: expected, got: got, knownKeys: knownKeys)
    }
}

/// One check of one value. One call deeper with each level of the value, and with each rule for the same value, of which no
/// schema has an endless row.
private struct Checking {
    let rules: [SchemaRule]
    let tape: JSONTape
    var stepsLeft: Int
    /// How many alternatives are being tried. What one of them finds is nobody's to read, and not put in words.
    private var trialDepth = 0

    init(rules: [SchemaRule], tape: JSONTape, stepsLeft: Int) {
        (self.rules, self.tape, self.stepsLeft) = (rules, tape, stepsLeft)
    }

    mutating func check(_ node: Int, _ index: Int) throws(Misfit) {
        stepsLeft -= 1
        let rule = rules[index]
        if stepsLeft <= 0 || rule.fitsNothing { throw misfit(node, "nothing") }
        if let kinds = rule.kinds, !fits(node, kinds) { throw misfit(node, rule) }
        if let values = rule.values, !isOne(of: values, node) {
            throw misfit(node, rule)
        }
        switch tape.kind(node) {
        case .number: try checkNumber(node, rule)
        case .string:
            try checkCount(node, tape.string(node).unicodeScalars.count, rule.lengths, "a string", "characters")
        case .array: try checkArray(node, rule)
        case .object: try checkObject(node, rule)
        case .null, .true, .false: break
        }
        try checkCombinations(node, rule)
    }

    private func misfit(_ node: Int, _ expected: @autoclosure () -> String) -> Misfit {
        trialDepth > 0 ? Misfit(expected: "", got: "") : Misfit(expected: expected(), got: tape.describe(node))
    }

    private func misfit(_ node: Int, _ rule: SchemaRule) -> Misfit {
        misfit(node, SchemaWords(rules).words(rule))
    }

    private func fits(_ node: Int, _ kinds: SchemaKinds) -> Bool {
        switch tape.kind(node) {
        case .null: kinds.contains(.null)
        case .true, .false: kinds.contains(.boolean)
        case .number: kinds.contains(.number) || kinds.contains(.integer) && isInteger(node)
        case .string: kinds.contains(.string)
        case .array: kinds.contains(.array)
        case .object: kinds.contains(.object)
        }
    }

    private func isOne(of values: [JSON], _ node: Int) -> Bool {
        let value = tape.json(node)
        return values.contains { wanted in
            // However they are written.
            if case .number(let left) = wanted, case .number(let right) = value { return left.order(with: right) == 0 }
            return wanted == value
        }
    }

    private func isInteger(_ node: Int) -> Bool {
        if tape.nodes[node].isPlainInteger { return true }
        let double = tape.double(node)
        return double.isFinite && double.rounded() == double
    }

    private func checkNumber(_ node: Int, _ rule: SchemaRule) throws(Misfit) {
        if rule.minimum == nil && rule.maximum == nil { return }
        let number = tape.number(node)
        if let minimum = rule.minimum, !minimum.isIncluded(in: number.order(with: minimum.number), -1) {
            throw misfit(node, rule)
        }
        if let maximum = rule.maximum, !maximum.isIncluded(in: number.order(with: maximum.number), 1) {
            throw misfit(node, rule)
        }
    }

    private func checkCount(
        _ node: Int, _ count: @autoclosure () -> Int, _ allowed: ClosedRange<Int>, _ what: String, _ parts: String
    ) throws(Misfit) {
        if allowed == 0...Int.max { return }
        let count = count()
        guard !allowed.contains(count) else { return }
        throw Misfit(expected: "\(what) of \(SchemaWords.range(allowed)) \(parts)", got: "\(count)")
    }

    private mutating func checkArray(_ node: Int, _ rule: SchemaRule) throws(Misfit) {
        let count = Int(tape.nodes[node].count)
        try checkCount(node, count, rule.elementCounts, "an array", "elements")
        if rule.elements == nil && rule.firstElements.isEmpty { return }
        var element = node + 1
        for place in 0..<count {
            guard let wanted = place < rule.firstElements.count ? rule.firstElements[place] : rule.elements else {
                return
            }
            do throws(Misfit) { try check(element, wanted) } catch { throw error.within(.index(place)) }
            element = Int(tape.nodes[element].next)
        }
    }

    private mutating func checkObject(_ node: Int, _ rule: SchemaRule) throws(Misfit) {
        let count = Int(tape.nodes[node].count)
        try checkCount(node, count, rule.memberCounts, "an object", "members")
        var known = 0
        for member in rule.members {
            guard let value = tape.member(member.key, of: node, isTaken: false) else {
                if member.isRequired { throw missing(member) }
                continue
            }
            known += 1
            guard let wanted = member.rule else { continue }
            do throws(Misfit) { try check(value, wanted) } catch { throw error.within(.key(member.key)) }
        }
        if let wanted = rule.otherMembers, known < count { try checkOthers(node, rule, wanted) }
    }

    private func missing(_ member: SchemaRule.Member) -> Misfit {
        let expected = member.rule.map { SchemaWords(rules).words(rules[$0]) } ?? "a value"
        return Misfit(steps: [.key(member.key)], expected: expected, got: JSONMismatch.nothing)
    }

    private mutating func checkOthers(_ node: Int, _ rule: SchemaRule, _ wanted: Int) throws(Misfit) {
        let known = rule.members.map(\.key)
        var key = node + 1
        for _ in 0..<tape.nodes[node].count {
            let place = tape.nodes[key]
            let name = tape.string(key)
            key = Int(place.next)
            if known.contains(where: { $0.utf8.elementsEqual(name.utf8) }) { continue }
            if rules[wanted].fitsNothing {
                throw Misfit(
                    steps: [.key(name)],
                    expected: known.isEmpty ? "no member at all" : "one of the keys \(known.joined(separator: ", "))",
                    got: "an unknown key", knownKeys: known)
            }
            do throws(Misfit) { try check(place.value, wanted) } catch { throw error.within(.key(name)) }
        }
    }

    private mutating func checkCombinations(_ node: Int, _ rule: SchemaRule) throws(Misfit) {
        for wanted in rule.all { try check(node, wanted) }
        for choice in rule.any where countFitting(node, choice, upTo: 1) == 0 { throw misfit(node, among: choice) }
        for choice in rule.one {
            let count = countFitting(node, choice, upTo: 2)
            if count == 0 { throw misfit(node, among: choice) }
            if count > 1 { throw misfit(node, "just one of: \(SchemaWords(rules).words(choice))") }
        }
        for refused in rule.none where countFitting(node, [refused], upTo: 1) == 1 {
            throw misfit(node, "anything but \(SchemaWords(rules).words(rules[refused]))")
        }
    }

    private mutating func countFitting(_ node: Int, _ choice: [Int], upTo most: Int) -> Int {
        trialDepth += 1
        defer { trialDepth -= 1 }
        var count = 0
        for wanted in choice where count < most {
            do throws(Misfit) {
                try check(node, wanted)
                count += 1
            } catch {
                continue
            }
        }
        return count
    }

    /// None of them fits. Where only one is of the value's kind, what that one says is told.
    private mutating func misfit(_ node: Int, among choice: [Int]) -> Misfit {
        if trialDepth > 0 { return misfit(node, "") }
        let near = choice.filter { rules[$0].kinds.map { fits(node, $0) } ?? false }
        guard near.count == 1 else { return misfit(node, SchemaWords(rules).words(choice)) }
        do throws(Misfit) {
            try check(node, near[0])
            return misfit(node, SchemaWords(rules).words(choice))
        } catch {
            return error
        }
    }
}

extension SchemaRule {
    /// Whether it asks nothing.
    fileprivate var isEmpty: Bool {
        !fitsNothing && kinds == nil && values == nil && minimum == nil && maximum == nil && lengths == 0...Int.max
            && elementCounts == 0...Int.max && memberCounts == 0...Int.max && firstElements.isEmpty && elements == nil
            && members.isEmpty && otherMembers == nil && ofTheSameValue.isEmpty
    }
}

extension SchemaRule.Bound {
    /// - Parameter wrong: the sign of the order of a number on the wrong side.
    fileprivate func isIncluded(in order: Int, _ wrong: Int) -> Bool { order == 0 ? isIncluded : order != wrong }
}

extension JSONNumber {
    /// -1, 0 or 1: less, equal, more. Exact where both are integers of 64 bits, else by the nearest doubles.
    fileprivate func order(with other: JSONNumber) -> Int {
        if let left = int64, let right = other.int64 { return left < right ? -1 : left == right ? 0 : 1 }
        let (left, right) = (double, other.double)
        return left < right ? -1 : left == right ? 0 : 1
    }
}
