import BridgeJSON

/// The calls that a provided task accepts.
public enum ProviderScope: String, Sendable, Hashable {
    /// The calls of all clients that the daemon's rules allow.
    case any
    /// Only the calls that name this session.
    case session
}

/// Makes the stream readers in a call's options; the argument is `nil` for those in a result.
typealias StreamReadersMaker = @Sendable (IncomingCall?) -> any StreamReaders

/// A call of a task that this bridge provides. May be used from any thread.
public struct IncomingCall: Sendable {
    /// The task's name.
    public let task: String
    /// The caller.
    public let caller: Caller
    /// The moment at which the caller stops waiting and the handler's Swift task is cancelled; `nil` for never.
    public let deadline: ContinuousClock.Instant?
    /// Whether the caller wants intermediate results.
    public let wantsProgress: Bool
    /// Whether the call has no answer: its outcome is not reported to the caller.
    public let isOneWay: Bool

    /// The id with which the daemon sent it; `nil` for none.
    let id: UInt64?
    /// `nil` if the caller does not want progress.
    let report: ProgressReport?

    /// The time until the deadline, zero after it; `nil` for no deadline.
    public var timeRemaining: Duration? { deadline.map { max(.zero, ContinuousClock.now.duration(to: $0)) } }

    /// Sends an intermediate result: any value that can be encoded as JSON. Never waits. The values arrive in order and
    /// before the result. A slow reader may get only the newest ones: send bytes, or values that must all arrive, as a
    /// stream (`Bridge.makeStream`).
    ///
    /// - Returns: Whether the value was accepted. It is refused if the caller wants no progress, the call has ended,
    ///   the daemon does not read its input, or the value cannot be encoded as JSON.
    @discardableResult
    public func reportProgress(_ value: some Encodable) -> Bool {
        guard let report, let bytes = try? JSONCoding.encode(value) else { return false }
        return report.send(bytes)
    }
}
