import TaskKit

/// The name lookups whose transfers ended before the resolver answered. Each occupies a libcurl thread until the
/// system's resolver gives up; it cannot be ended before. Used only by the thread of its network.
final class OpenLookups {
    /// The maximum number of open lookups.
    static let maximum = 64
    /// The time after which the resolver has given up: by default it waits 5 s, twice, for each of up to three servers.
    static let lifetime = Duration.seconds(30)

    /// The times when transfers left their lookups, oldest first.
    private var left: [ContinuousClock.Instant] = []

    /// Records that a transfer has ended during its lookup.
    func add(at now: ContinuousClock.Instant) { left.append(now) }

    /// Returns whether another lookup may begin.
    func hasRoom(at now: ContinuousClock.Instant) -> Bool {
        left.removeAll { now - $0 >= Self.lifetime }
        return left.count < Self.maximum
    }
}
