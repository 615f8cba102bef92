/// A state machine that admits one event in each interval. Moments are times since any fixed moment.
public struct RateLimit: Sendable, Hashable {
    private let interval: Duration
    private var next: Duration?

    /// Creates a limit that has admitted nothing yet.
    ///
    /// - Parameter interval: The time between two events.
    public init(_ interval: Duration) { self.interval = interval }

    /// Returns whether an event is admitted now.
    ///
    /// - Parameter moment: The current moment.
    public mutating func admits(at moment: Duration) -> Bool {
        if let next, moment < next { return false }
        next = moment + interval
        return true
    }
}
