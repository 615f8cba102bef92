import Glibc

/// The moment by which what a test waits for must have come. Far longer than anything takes, so that it is met on a
/// busy machine too; what it bounds is how long a test hangs that fails.
public struct Deadline {
    /// Sanitizers make everything take several times as long: scripts/test-sanitize says how many times.
    private static let factor = getenv("TRESTLE_TEST_TIMEOUT_FACTOR").flatMap { Int(String(cString: $0)) } ?? 1

    private let end: ContinuousClock.Instant

    /// - Parameter timeout: 5 minutes but for what runs a compiler: most takes less than a second, the conformance
    ///   vectors of all rules 12 s on an idle machine.
    public init(_ timeout: Duration = .seconds(300)) { end = .now + timeout * Self.factor }

    /// Whether it has passed.
    public var isOver: Bool { ContinuousClock.now >= end }

    /// What is left, as poll(2) wants it: whole milliseconds, 0 once it is over.
    public var millisecondsLeft: Int32 {
        let left = ContinuousClock.now.duration(to: end).components
        return Int32(max(0, left.seconds * 1_000 + left.attoseconds / 1_000_000_000_000_000))
    }
}

/// Why a test cannot go on, in a sentence.
public struct TestFailure: Error, CustomStringConvertible {
    /// The sentence.
    public let description: String

    /// - Parameter description: the sentence.
    public init(_ description: String) { self.description = description }
}
