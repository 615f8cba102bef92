/// Lets one thing pass in each interval, as a state machine: moments are times since any fixed one.
public struct RateLimit: Sendable, Hashable {
    private let interval: Duration
    private var next: Duration?

    /// A limit that has let nothing pass yet.
    ///
    /// - Parameter interval: The time between two.
    public init(_ interval: Duration) { self.interval = interval }

    /// Whether something may pass now.
    ///
    /// - Parameter moment: Now.
    public mutating func admits(at moment: Duration) -> Bool {
        if let next, moment < next { return false }
        next = moment + interval
        return true
    }
}
