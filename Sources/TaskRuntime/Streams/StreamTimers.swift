import BridgeJSON

/// The times at which streams must be checked. Loop thread only.
final class StreamTimers {
    /// How long a stream is kept whose other end is not taken, while no call is in flight that might take it.
    static let claimTime = Duration.seconds(60)
    /// How long a stream may be idle while the daemon stops.
    private static let stillTime = Duration.seconds(1)
    /// The delay before a read that waits only for its user's quota is checked again.
    private static let retryTime = Duration.milliseconds(100)

    /// The error for a stream whose other end is not taken.
    static let unclaimed = BridgeError(
        .streamUnclaimed, "the other end of the stream was not used within \(claimTime.components.seconds) seconds")

    private let clock: any RuntimeClock
    private let alarm: Alarm
    private let sessions: SessionStore
    private var claims = StreamTimes()
    private var retries: Set<UInt64> = []
    private var retryAt = RuntimeInstant.never
    private var stillAt = RuntimeInstant.never

    init(_ components: RuntimeComponents) {
        clock = components.clock
        alarm = components.alarm
        sessions = components.sessions
    }

    /// The current moment.
    var now: RuntimeInstant { clock.now }

    /// Requests that the clock wakes the runtime for the first of these times.
    func arm() { alarm.wake(by: min(claims.earliest, retryAt, stillAt)) }

    /// Schedules a check of a stream whose other end is not taken.
    ///
    /// - Parameter isNeeded: Whether a scheduled check of a stream is still needed.
    func waitForClaim(of name: StreamName, isNeeded: (StreamName) -> Bool) {
        claims.trim(where: isNeeded)
        claims.append(name, at: clock.now.advanced(by: Self.claimTime))
        arm()
    }

    /// Removes and returns the next stream that may be unclaimed.
    func popUnclaimed() -> StreamName? { claims.popExpired(at: clock.now) }

    /// Schedules a check of the reads of a session.
    func retry(_ session: Session) {
        retries.insert(session.number)
        retryAt = min(retryAt, clock.now.advanced(by: Self.retryTime))
        arm()
    }

    /// Removes and returns the sessions whose reads must be checked, if their time has come.
    func takeRetries() -> [Session] {
        guard retryAt <= clock.now else { return [] }
        defer { (retries, retryAt) = ([], .never) }
        return retries.compactMap { sessions[$0] }
    }

    /// Schedules a check whether streams have moved.
    func watchStill() {
        stillAt = clock.now.advanced(by: Self.stillTime)
        arm()
    }

    /// Whether that check is due; if so, it is removed.
    func isStillDue() -> Bool {
        guard stillAt <= clock.now else { return false }
        stillAt = .never
        return true
    }
}
