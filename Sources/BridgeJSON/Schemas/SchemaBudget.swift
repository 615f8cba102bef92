/// How much work there may be yet: a step is about what comparing one short key takes, a few nanoseconds.
struct SchemaBudget {
    private(set) var stepsLeft: Int

    /// For one check: some milliseconds at most, and far more than a value of 64 KiB takes.
    static let checkSteps = 1_000_000
    /// For a check that others wait for: 20 to 80 µs.
    static let quickSteps = 20_000
    /// A longer value is left to a check that no one waits for: reading it takes about 5 ns a byte.
    static let quickBytes = 4_096
    /// For reading one schema: its text, and what its references search through.
    static let readingSteps = 1_000_000

    /// So many bytes are compared, copied, hashed or counted in one step.
    private static let bytesPerStep = 8

    init(steps: Int) { stepsLeft = steps }

    /// Takes steps before the work that they stand for begins.
    mutating func spend(_ steps: Int) throws(SchemaExcess) {
        stepsLeft -= steps
        if stepsLeft < 0 { throw .steps }
    }

    /// Takes steps for bytes that are gone through.
    mutating func spend(bytes: Int) throws(SchemaExcess) { try spend(1 + bytes / Self.bytesPerStep) }

    /// Takes steps for what a string or key says: escapes are resolved byte by byte, into a text of its own.
    mutating func spend(content node: TapeNode) throws(SchemaExcess) {
        try spend(bytes: Int(node.count) * (node.hasEscapes ? 8 : 1))
        if node.hasEscapes { try spend(Self.copySteps) }
    }

    /// What room for a copy costs.
    private static let copySteps = 16
}

/// Why a check ends before it is known whether the value fits.
enum SchemaExcess: Error {
    case steps
    case nesting
    case exponent
    case memory
    /// The thread would have to wait, and may not.
    case waiting

    /// Whether a check that may take longer might come to an end.
    var isOfHaste: Bool {
        switch self {
        case .steps, .waiting: true
        case .nesting, .exponent, .memory: false
        }
    }

    /// The end of a sentence.
    var reason: String {
        switch self {
        case .steps: "the schema asks for more than \(SchemaBudget.checkSteps) steps for these options"
        case .nesting: "schemas are applied more than \(Checking.maximumNested) deep to these options"
        case .exponent:
            "a number has an exponent of more than \(DecimalText.maximumExponentDigits) digits"
        case .memory: "there is not enough memory for a pattern"
        case .waiting: "a pattern is not at hand"
        }
    }
}
