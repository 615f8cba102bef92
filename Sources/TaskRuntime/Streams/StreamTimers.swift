import BridgeJSON

/// When streams are to be looked at. Loop thread only.
final class StreamTimers {
    /// How long a stream is kept of which nobody takes the other end, while no call is in flight that might.
    static let claimTime = Duration.seconds(60)
    /// How long a stream may stand still while the daemon stops.
    private static let stillTime = Duration.seconds(1)
    /// When a read that waits for nothing but its user's quota is looked at again.
    private static let retryTime = Duration.milliseconds(100)

    /// What a stream ends with whose other end nobody takes.
    static let unclaimed = BridgeError(
        .streamUnclaimed, "nobody took the other end of the stream within \(claimTime.components.seconds) seconds")

    private let clock: any RuntimeClock
    private let alarm: Alarm
    private let sessions: SessionStore
    private var claims = StreamTimes()
    private var retries: Set<UInt64> = []
    private var retryAt = RuntimeInstant.never
    private var stillAt = RuntimeInstant.never

    init(_ rooms: RuntimeRooms) {
        clock = rooms.clock
        alarm = rooms.alarm
        sessions = rooms.sessions
    }

    /// The present.
    var now: RuntimeInstant { clock.now }

    /// Has the clock wake the runtime for the first of them.
    func arm() { alarm.wake(by: min(claims.earliest, retryAt, stillAt)) }

    /// Looks after a while at a stream of which nobody has the other end.
    ///
    /// - Parameter isNeeded: Whether that is still so of a stream that is to be looked at.
    func waitForClaim(of name: StreamName, isNeeded: (StreamName) -> Bool) {
        claims.trim(where: isNeeded)
        claims.append(name, at: clock.now.advanced(by: Self.claimTime))
        arm()
    }

    /// The next stream that may be unclaimed.
    func popUnclaimed() -> StreamName? { claims.popExpired(at: clock.now) }

    /// Looks after a moment at the reads of a session.
    func retry(_ session: Session) {
        retries.insert(session.number)
        retryAt = min(retryAt, clock.now.advanced(by: Self.retryTime))
        arm()
    }

    /// The sessions whose reads are to be looked at, where their moment has come.
    func takeRetries() -> [Session] {
        guard retryAt <= clock.now else { return [] }
        defer { (retries, retryAt) = ([], .never) }
        return retries.compactMap { sessions[$0] }
    }

    /// Looks after a while whether streams have moved.
    func watchStill() {
        stillAt = clock.now.advanced(by: Self.stillTime)
        arm()
    }

    /// Whether that moment has come.
    func isStillDue() -> Bool {
        guard stillAt <= clock.now else { return false }
        stillAt = .never
        return true
    }
}
