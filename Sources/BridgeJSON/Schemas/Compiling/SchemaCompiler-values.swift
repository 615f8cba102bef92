// Keywords for a single value: its type, constants, numbers, strings.
extension SchemaCompiler {
    mutating func readValues(_ schema: Waiting) throws(JSONSchemaError) {
        if let (node, path) = value(.type, schema) { rules.append(.kinds(try kinds(node, path))) }
        if let (node, path) = value(.enum, schema) {
            rules.append(.constants(try constants(try elements(node, path), path)))
        }
        if let (node, path) = value(.const, schema) { rules.append(.constants(try constants([node], path))) }
    }

    private func kinds(_ node: Int, _ path: CodingPath) throws(JSONSchemaError) -> SchemaKinds {
        var kinds: SchemaKinds = []
        for name in tape.kind(node) == .array ? try elements(node, path) : [node] {
            guard tape.kind(name) == .string, let kind = SchemaKinds(name: tape.string(name)) else {
                throw failure(path, "there is no type \(tape.json(name).text)")
            }
            kinds.insert(kind)
        }
        guard !kinds.isEmpty else { throw failure(path, "expected a type") }
        return kinds
    }

    private mutating func constants(_ nodes: [Int], _ path: CodingPath) throws(JSONSchemaError) -> SchemaRange {
        let tape = tape
        var known: [UInt64: [Int]] = [:]
        var constants: [SchemaConstant] = []
        for node in nodes {
            let hash = try spending(path) { budget throws(SchemaExcess) in
                try SchemaValues.hash(node, of: tape, &budget)
            }
            // A duplicate costs no memory.
            let isKnown = try spending(path) { budget throws(SchemaExcess) in
                for other in known[hash] ?? [] where try SchemaValues.areEqual(node, of: tape, other, of: tape, &budget)
                {
                    return true
                }
                return false
            }
            if isKnown { continue }
            known[hash, default: []].append(node)
            constants.append(SchemaConstant(hash: hash, text: keep(value: node)))
        }
        constants.sort { $0.hash < $1.hash }
        defer { graph.constants += constants }
        return SchemaRange(start: UInt32(graph.constants.count), count: UInt32(constants.count))
    }

    /// Keeps the JSON of a value.
    private mutating func keep(value node: Int) -> SchemaRange {
        tape.json(node).bytes.withUnsafeBytes { keep($0) }
    }

    // MARK: Numbers and strings

    mutating func readNumbersAndStrings(_ schema: Waiting) throws(JSONSchemaError) {
        if let number = try number(.minimum, schema) { rules.append(.minimum(number)) }
        if let number = try number(.exclusiveMinimum, schema) { rules.append(.exclusiveMinimum(number)) }
        if let number = try number(.maximum, schema) { rules.append(.maximum(number)) }
        if let number = try number(.exclusiveMaximum, schema) { rules.append(.exclusiveMaximum(number)) }
        if let number = try divisor(schema) { rules.append(.multipleOf(number)) }
        if let counts = try counts(.minLength, .maxLength, schema) { rules.append(.lengths(counts)) }
        if let (node, path) = value(.pattern, schema) {
            rules.append(.pattern(try pattern(try text(node, path), path)))
        }
    }

    private mutating func number(_ keyword: SchemaKeyword, _ schema: Waiting) throws(JSONSchemaError) -> SchemaRange? {
        guard let (node, path) = value(keyword, schema) else { return nil }
        _ = try decimal(node, path)
        return keep(tape.bytes(node))
    }

    private func decimal(_ node: Int, _ path: CodingPath) throws(JSONSchemaError) -> DecimalText {
        guard tape.kind(node) == .number else { throw failure(path, "expected a number") }
        guard let decimal = DecimalText(tape.bytes(node)) else { throw failure(path, SchemaExcess.exponent.reason) }
        return decimal
    }

    private mutating func divisor(_ schema: Waiting) throws(JSONSchemaError) -> SchemaRange? {
        guard let (node, path) = value(.multipleOf, schema) else { return nil }
        let divisor = try decimal(node, path)
        guard !divisor.isNegative, !divisor.isZero else { throw failure(path, "expected a number above 0") }
        guard divisor.digits != nil else {
            throw failure(path, "more than \(DecimalText.maximumDivisorDigits) digits are not supported")
        }
        return keep(tape.bytes(node))
    }

    /// Returns the bounds of a count; nil if there are none.
    func counts(
        _ minimum: SchemaKeyword, _ maximum: SchemaKeyword, _ schema: Waiting
    ) throws(JSONSchemaError) -> SchemaCounts? {
        let counts = SchemaCounts(minimum: try count(minimum, schema) ?? 0, maximum: try count(maximum, schema) ?? .max)
        return counts.allowsAny ? nil : counts
    }

    func count(_ keyword: SchemaKeyword, _ schema: Waiting) throws(JSONSchemaError) -> UInt32? {
        guard let (node, path) = value(keyword, schema) else { return nil }
        guard tape.kind(node) == .number, let count: Int64 = tape.integer(node), count >= 0 else {
            throw failure(path, "expected an integer of at least 0")
        }
        // No value has that many parts.
        return UInt32(clamping: count)
    }

    // MARK: Patterns

    /// Returns the index of a pattern, which is compiled if it is new.
    mutating func pattern(_ source: String, _ path: CodingPath) throws(JSONSchemaError) -> UInt32 {
        if let known = patterns[ExactKey(text: source)] { return known }
        guard source.utf8.count <= Self.maximumPatternBytes else {
            throw failure(path, "a pattern of more than \(Self.maximumPatternBytes) bytes")
        }
        guard patterns.count < Self.maximumPatterns else {
            throw failure(path, "more than \(Self.maximumPatterns) different patterns in one schema")
        }
        func refusal(_ error: PatternError) -> JSONSchemaError {
            failure(path, "the pattern \(JSON.string(source).text) cannot be checked: \(error.reason)")
        }
        let translation: PatternTranslation
        do throws(PatternError) { translation = try PatternTranslation(source) } catch { throw refusal(error) }
        try spending(path) { budget throws(SchemaExcess) in
            try budget.spend(translation.propertyCount * Self.propertySteps)
        }
        let instructions: Int
        do throws(PatternError) { instructions = try PatternEngine.compile(translation.text) } catch {
            throw refusal(error)
        }
        instructionCount += instructions
        guard instructionCount <= Self.maximumInstructions else {
            throw failure(
                path,
                "the patterns of the schema are too large together: a class of many characters, or many repetitions")
        }
        let index = UInt32(graph.patterns.count)
        graph.patterns.append(
            SchemaPattern(
                text: keep(translation.text), source: keep(source), weight: UInt32(translation.weight),
                compileSteps: UInt32(
                    instructions * Self.instructionSteps + translation.propertyCount * Self.propertySteps / 3)))
        patterns[ExactKey(text: source)] = index
        return index
    }

    /// RE2 takes some microseconds to compile a pattern, 0.4 for each instruction, and up to 70 for each property of
    /// characters. A pattern that has left its cache is compiled again at the next check. These maximum numbers take
    /// some milliseconds, and fit into the cache at the same time.
    private static var maximumPatterns: Int { 64 }
    private static var maximumInstructions: Int { 8_192 }
    /// The cost of compiling. A check takes a third of the steps for a property, so that they suffice for all patterns
    /// of a schema.
    private static var instructionSteps: Int { 40 }
    private static var propertySteps: Int { 7_500 }
    /// In bytes.
    private static var maximumPatternBytes: Int { 4_096 }
}
