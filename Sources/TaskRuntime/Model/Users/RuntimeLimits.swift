/// Limits that protect clients from each other. Every limit is per session unless stated otherwise.
public struct RuntimeLimits: Sendable {
    /// The maximum length of a message in either direction, and so of a result: 1 MiB holds a photograph's thumbnail or
    /// a long page of records, and is read in a few milliseconds.
    public var messageBytes = 1 << 20
    /// Calls in flight: far more than a busy page has open.
    public var callsInFlight = 1024
    /// Bytes of unread replies above which requests are not read either.
    public var unreadBytes = 4 << 20
    /// Events that wait for a slow reader; above this the oldest are dropped.
    public var queuedEvents = 1024
    /// Bytes of events that wait for a slow reader; above this the oldest are dropped.
    public var queuedEventBytes = 1 << 20
    /// Bytes of a stream that wait for its reader: enough for fast transfer while both sides take turns.
    public var streamWindowBytes = 256 << 10
    /// The timeout of a call if neither the call nor its task specifies one.
    public var callTimeout = Duration.seconds(60)

    /// Creates the limits of the protocol.
    public init() {}
}
