import BridgeJSON

/// Whose calls a provided task takes.
public enum ProviderScope: String, Sendable, Hashable {
    /// Those of all clients that the daemon's rules allow.
    case any
    /// Only those that name this session.
    case session
}

/// Makes the readers of a call's options; nil: of a result.
typealias StreamReadersMaker = @Sendable (IncomingCall?) -> any StreamReaders

/// A call of a task that this bridge provides. May be used on any thread.
public struct IncomingCall: Sendable {
    /// The task's name.
    public let task: String
    /// Who calls.
    public let caller: Caller
    /// When the caller stops waiting, and the handler's Swift task is cancelled; nil: never.
    public let deadline: ContinuousClock.Instant?
    /// Whether the caller takes intermediate results.
    public let wantsProgress: Bool
    /// Nothing reports to the caller what becomes of the call.
    public let isOneWay: Bool

    /// The id under which the daemon sent it; nil: none.
    let id: UInt64?
    /// Nil: no one wants progress.
    let report: ProgressReport?

    /// The time that is left to the call now, zero once it is over; nil: no deadline.
    public var timeRemaining: Duration? { deadline.map { max(.zero, ContinuousClock.now.duration(to: $0)) } }

    /// Sends an intermediate result, any value that has JSON. Never waits. What is sent arrives in order, and before
    /// the result; a slow reader may get the newest only: bytes, or values that all have to arrive, go as a stream
    /// (`Bridge.makeStream`).
    ///
    /// - Returns: Whether it was taken. It is not where the caller wants no progress, where the call has ended, where
    ///   the daemon does not read what was sent before, and where the value has no JSON.
    @discardableResult
    public func reportProgress(_ value: some Encodable) -> Bool {
        guard let report, let bytes = try? JSONCoding.encode(value) else { return false }
        return report.send(bytes)
    }
}
