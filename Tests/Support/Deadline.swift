import Glibc

/// The moment until which a test waits for an event. It is far later than necessary, so that it suffices on a busy
/// machine as well. It bounds the time for which a failing test hangs.
public struct Deadline {
    /// Sanitizers slow everything down by this factor, which scripts/test-sanitize sets.
    private static let factor = getenv("TRESTLE_TEST_TIMEOUT_FACTOR").flatMap { Int(String(cString: $0)) } ?? 1

    private let end: ContinuousClock.Instant

    /// - Parameter timeout: 5 minutes suffice except for a compiler: most waits take less than a second, the
    ///   conformance vectors of all rules take 12 s on an idle machine.
    public init(_ timeout: Duration = .seconds(300)) { end = .now + timeout * Self.factor }

    /// Whether the deadline has passed.
    public var isOver: Bool { ContinuousClock.now >= end }

    /// The remaining time for poll(2): whole milliseconds, 0 after the deadline.
    public var millisecondsLeft: Int32 {
        let left = ContinuousClock.now.duration(to: end).components
        return Int32(max(0, left.seconds * 1_000 + left.attoseconds / 1_000_000_000_000_000))
    }
}

/// The reason why a test cannot continue.
public struct TestFailure: Error, CustomStringConvertible {
    /// The reason, as a sentence.
    public let description: String

    /// - Parameter description: The reason, as a sentence.
    public init(_ description: String) { self.description = description }
}
