// A program's settings for reconnecting: the pauses between attempts, and how much may wait for a connection.

/// The settings with which a bridge reconnects after it has lost its connection.
public struct Reconnection: Sendable, Hashable {
    /// The pauses between attempts.
    public var backoff: Backoff
    /// How long a call without a timeout waits for a connection. A call with a timeout waits until the timeout has
    /// passed.
    public var maximumWait: Duration
    /// How many calls may wait for a connection; the next one ends with `busy`.
    public var maximumWaitingCalls: Int
    /// How many bytes the messages of the waiting calls may have together; a call beyond it ends with `busy`.
    public var maximumWaitingBytes: Int

    /// Creates the settings. The default limits equal the defaults for the calls in flight of a daemon's session and
    /// for the output of a bridge.
    public init(
        backoff: Backoff = Backoff(), maximumWait: Duration = .seconds(60), maximumWaitingCalls: Int = 1_024,
        maximumWaitingBytes: Int = 4 << 20
    ) {
        self.backoff = backoff
        self.maximumWait = maximumWait
        self.maximumWaitingCalls = maximumWaitingCalls
        self.maximumWaitingBytes = maximumWaitingBytes
    }
}

/// The growth of the pauses. Each pause is twice as long as the one before; it is then shortened at random, so that
/// many clients of one daemon do not all reconnect at the same moment.
public struct Backoff: Sendable, Hashable {
    /// The first pause, at least one millisecond.
    public var initial: Duration
    /// The longest pause.
    public var maximum: Duration
    /// The maximum fraction by which a pause is shortened, from 0 (never) to 1.
    public var jitter: Double

    /// Creates the growth. By default the pauses last from 0.1 to 15 seconds, shortened by up to a half.
    public init(initial: Duration = .milliseconds(100), maximum: Duration = .seconds(15), jitter: Double = 0.5) {
        self.initial = max(initial, .milliseconds(1))
        self.maximum = max(maximum, initial)
        self.jitter = min(max(jitter, 0), 1)
    }
}
