/// Translates a regular expression of ECMA-262 (with the flag `u`, as JSON Schema requires) to the syntax of RE2.
///
/// Syntax that RE2 interprets differently is rewritten: `$`, `.`, `\s`, `\b` in a class, escapes, names of categories.
/// Features that RE2 lacks, such as lookaheads and backreferences, are refused.
struct PatternTranslation {
    /// The pattern in RE2's syntax.
    private(set) var text = ""
    /// The maximum work for one byte of text, in steps of a ``SchemaBudget``: RE2 follows all alternatives at once, and
    /// this is their number.
    private(set) var weight = 0
    /// The number of character properties in the pattern.
    private(set) var propertyCount = 0

    private var reader: PatternReader
    /// The weights of the parts before each open group.
    private var outer: [Int] = []
    /// The weight of the part that a quantifier would repeat; nil if there is nothing to repeat.
    private var repeatable: Int?
    private var hasNonBoundary = false

    /// The maximum weight of a pattern.
    private static let heaviest = 1_000_000
    /// The maximum number of repetitions in RE2.
    private static let maximumRepetitions = 1_000
    /// RE2 takes up to 70 µs to read one, before any limit applies.
    private static let maximumProperties = 64
    /// The maximum number of nested groups that both RE2 and this reader accept.
    private static let deepest = 200

    init(_ pattern: String) throws(PatternError) {
        reader = PatternReader(pattern)
        while let scalar = reader.next() { try term(scalar) }
        guard outer.isEmpty else { throw PatternError("a group does not end") }
        guard propertyCount <= Self.maximumProperties else {
            throw PatternError("more than \(Self.maximumProperties) properties of characters")
        }
        if hasNonBoundary {
            // RE2 would also find `\B` between the bytes of one character, so whole characters are skipped.
            text = #"\A(?s:.)*?(?:\#(text))"#
            weight += PatternSet.anyWeight
        }
        weight = max(weight, 1)
    }

    // MARK: Terms

    private mutating func term(_ scalar: Unicode.Scalar) throws(PatternError) {
        switch scalar {
        case "^": emit(#"\A"#)
        case "$": emit(#"\z"#)
        case "|": emit("|")
        case "(": try openGroup()
        case ")": try closeGroup()
        case "[": atom(try PatternSet.readClass(&reader))
        case ".": atom(PatternSet(#"\n\r\x{2028}\x{2029}"#, isNegated: true, weight: PatternSet.anyWeight))
        case "*", "+", "?": try repeatLast(String(scalar), atMost: 1)
        case "{": try braces()
        case "\\": try escape()
        default: literal(scalar)
        }
    }

    /// Appends a part that consumes no text and cannot be repeated.
    private mutating func emit(_ piece: String) {
        text += piece
        repeatable = nil
    }

    private mutating func atom(_ piece: String, weight: Int) {
        text += piece
        self.weight = min(self.weight + weight, Self.heaviest)
        repeatable = weight
    }

    private mutating func atom(_ set: PatternSet) {
        propertyCount += set.propertyCount
        atom(set.expression, weight: set.weight)
    }

    private mutating func literal(_ scalar: Unicode.Scalar) {
        atom(PatternSet.literal(scalar), weight: scalar.isASCII ? 1 : 2)
    }

    // MARK: Groups

    private mutating func openGroup() throws(PatternError) {
        guard outer.count < Self.deepest else { throw PatternError("more than \(Self.deepest) groups in one another") }
        if reader.skip("?") {
            if reader.skip("<") {
                guard !reader.isAt("="), !reader.isAt("!") else { throw PatternError("lookbehinds are not supported") }
                guard reader.skip(through: ">") else { throw PatternError("the name of a group does not end") }
            } else if !reader.skip(":") {
                throw PatternError(
                    reader.isAt("=") || reader.isAt("!")
                        ? "lookaheads are not supported" : "(? must be followed by : or <")
            }
        }
        emit("(?:")
        outer.append(weight)
        weight = 0
    }

    private mutating func closeGroup() throws(PatternError) {
        guard let before = outer.popLast() else { throw PatternError("a ) has no (") }
        text += ")"
        repeatable = max(weight, 1)
        weight = min(before + weight, Self.heaviest)
    }

    // MARK: Quantifiers

    private mutating func repeatLast(_ quantifier: String, atMost count: Int) throws(PatternError) {
        guard let repeated = repeatable else { throw PatternError("there is nothing that \(quantifier) could repeat") }
        text += quantifier
        if reader.skip("?") { text += "?" }
        let (added, overflow) = repeated.multipliedReportingOverflow(by: max(count, 1) - 1)
        weight = overflow ? Self.heaviest : min(weight + added, Self.heaviest)
        repeatable = nil
    }

    /// Reads `{2}`, `{2,}` or `{2,5}`; braces around anything else are literal.
    private mutating func braces() throws(PatternError) {
        guard let (low, high) = reader.bounds() else { return literal("{") }
        guard max(low, high ?? 0) <= Self.maximumRepetitions else {
            throw PatternError("more than \(Self.maximumRepetitions) repetitions")
        }
        guard let high else { return try repeatLast("{\(low),}", atMost: low) }
        guard low <= high else { throw PatternError("the bounds {\(low),\(high)} are in the wrong order") }
        try repeatLast("{\(low),\(high)}", atMost: high)
    }

    // MARK: Escapes

    private mutating func escape() throws(PatternError) {
        if reader.skip("b") { return emit(#"\b"#) }
        if reader.skip("B") {
            hasNonBoundary = true
            return emit(#"\B"#)
        }
        switch try PatternSet.readEscape(&reader) {
        case .scalar(let scalar): literal(scalar)
        case .set(let set): atom(set)
        }
    }
}
