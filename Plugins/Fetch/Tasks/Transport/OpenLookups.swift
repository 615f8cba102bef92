import TaskKit

/// Lookups of names whose transfers are over before a resolver has answered. Each keeps a thread of libcurl's, which
/// cannot be ended, until the system's resolver gives up. The thread of one network only.
final class OpenLookups {
    /// How many there are at most.
    static let maximum = 64
    /// How long the resolver asks: its default is 5 s, twice, for each of up to three servers.
    static let lifetime = Duration.seconds(30)

    /// When each was left, oldest first.
    private var left: [ContinuousClock.Instant] = []

    /// A transfer has ended while its name was looked up.
    func add(at now: ContinuousClock.Instant) { left.append(now) }

    /// Whether one more may begin.
    func hasRoom(at now: ContinuousClock.Instant) -> Bool {
        left.removeAll { now - $0 >= Self.lifetime }
        return left.count < Self.maximum
    }
}
