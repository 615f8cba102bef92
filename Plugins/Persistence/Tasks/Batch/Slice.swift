import Glibc

/// The time for which a lane works before the next user's turn. A call that begins within it may exceed it; so may one
/// record of a query.
struct Slice {
    /// Returns the time since a moment in the past.
    typealias Clock = @Sendable () -> Duration

    private let clock: Clock
    private let length: Duration
    private let end: Duration

    /// Creates a slice that begins now.
    init(of length: Duration, _ clock: @escaping Clock) {
        (self.length, self.clock) = (length, clock)
        end = clock() + length
    }

    var isOver: Bool { clock() >= end }

    /// Returns a slice of the same length that begins now.
    func another() -> Slice { Slice(of: length, clock) }

    /// The monotonic clock of the system, which is never set.
    static let monotonic: Clock = {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
