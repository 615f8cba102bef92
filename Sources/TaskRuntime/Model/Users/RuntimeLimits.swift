/// Bounds that keep one client from hurting another. Every figure is per session unless it says otherwise.
public struct RuntimeLimits: Sendable {
    /// The longest message, in either direction, and so the longest result: 1 MiB holds a photograph's thumbnail or a
    /// long page of records, and is read in a few milliseconds.
    public var messageBytes = 1 << 20
    /// Calls in flight: what a busy page has open, many times over.
    public var callsInFlight = 1024
    /// Replies not yet read, beyond which requests are no longer read either.
    public var unreadBytes = 4 << 20
    /// Events that wait for a slow reader; beyond, the oldest are dropped.
    public var queuedEvents = 1024
    /// Bytes of events that wait for a slow reader; beyond, the oldest are dropped.
    public var queuedEventBytes = 1 << 20
    /// Bytes of a stream that wait for its reader: what moves fast while both sides take turns.
    public var streamWindowBytes = 256 << 10
    /// How long a call may take where neither it nor its task says otherwise.
    public var callTimeout = Duration.seconds(60)

    /// The bounds of the protocol.
    public init() {}
}
