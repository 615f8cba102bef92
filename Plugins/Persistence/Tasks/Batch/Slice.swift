import Glibc

/// The time that a lane works before it asks whose turn it is. A call that is begun within it may take longer, as long
/// as a call can take; so may one record of a query.
struct Slice {
    /// The time since some moment in the past.
    typealias Clock = @Sendable () -> Duration

    private let clock: Clock
    private let length: Duration
    private let end: Duration

    /// Begins now.
    init(of length: Duration, _ clock: @escaping Clock) {
        (self.length, self.clock) = (length, clock)
        end = clock() + length
    }

    var isOver: Bool { clock() >= end }

    /// As long a slice that begins now.
    func another() -> Slice { Slice(of: length, clock) }

    /// The system's clock, which no one sets.
    static let monotonic: Clock = {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
