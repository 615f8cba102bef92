/// The remaining amount of work. A step is about the time to compare one short key, a few nanoseconds.
struct SchemaBudget {
    private(set) var stepsLeft: Int

    /// The steps of one check: some milliseconds at most, and far more than a value of 64 KiB needs.
    static let checkSteps = 1_000_000
    /// The steps of a check on a thread that others wait for: 20 to 80 µs.
    static let quickSteps = 20_000
    /// The maximum length for a quick check; reading takes about 5 ns a byte. Longer values need the other check.
    static let quickBytes = 4_096
    /// The steps for reading one schema: its text, and the search for the targets of its references.
    static let readingSteps = 1_000_000

    /// The number of bytes that are compared, copied, hashed or counted in one step.
    private static let bytesPerStep = 8

    init(steps: Int) { stepsLeft = steps }

    /// Takes steps before the corresponding work begins.
    mutating func spend(_ steps: Int) throws(SchemaExcess) {
        stepsLeft -= steps
        if stepsLeft < 0 { throw .steps }
    }

    /// Takes steps for processing bytes.
    mutating func spend(bytes: Int) throws(SchemaExcess) { try spend(1 + bytes / Self.bytesPerStep) }

    /// Takes steps for decoding a string or key: escapes are decoded byte by byte into a separate text.
    mutating func spend(content node: TapeNode) throws(SchemaExcess) {
        try spend(bytes: Int(node.count) * (node.hasEscapes ? 8 : 1))
        if node.hasEscapes { try spend(Self.copySteps) }
    }

    /// The cost of allocating a copy.
    private static let copySteps = 16
}

/// The reason why a check ends before it is known whether the value fits.
enum SchemaExcess: Error {
    case steps
    case nesting
    case exponent
    case memory
    /// The thread would have to wait, which it must not do.
    case waiting

    /// Whether a check with more time might succeed.
    var isOfHaste: Bool {
        switch self {
        case .steps, .waiting: true
        case .nesting, .exponent, .memory: false
        }
    }

    /// The reason as the end of a sentence.
    var reason: String {
        switch self {
        case .steps: "the check of these options takes more than \(SchemaBudget.checkSteps) steps"
        case .nesting: "more than \(Checking.maximumNested) nested schemas apply to these options"
        case .exponent:
            "a number has an exponent of more than \(DecimalText.maximumExponentDigits) digits"
        case .memory: "there is not enough memory for a pattern"
        case .waiting: "a pattern is not ready"
        }
    }
}
