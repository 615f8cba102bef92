// What a program says of reconnecting: how long to wait between attempts, and what may wait for one to succeed.

/// How a bridge whose connection is lost makes a new one.
public struct Reconnection: Sendable, Hashable {
    /// The pauses between attempts.
    public var backoff: Backoff
    /// How long a call without a timeout waits for a connection; one with a timeout waits until that has passed.
    public var maximumWait: Duration
    /// How many calls may wait for a connection; one more ends with `busy`.
    public var maximumWaitingCalls: Int
    /// How long the messages of the calls that wait may be together; one more ends with `busy`.
    public var maximumWaitingBytes: Int

    /// By default the most that may wait is what a daemon's session may have in flight, and what a bridge keeps in
    /// its output, unless they are configured otherwise.
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

/// How pauses grow: each is twice as long as the one before, and then shortened by chance, so that many clients of one
/// daemon do not all come back in the same moment.
public struct Backoff: Sendable, Hashable {
    /// The first pause, at least a millisecond.
    public var initial: Duration
    /// The longest pause.
    public var maximum: Duration
    /// By which part of itself a pause is shortened at most, from 0 (never) to 1.
    public var jitter: Double

    /// By default from a tenth of a second to 15 seconds, shortened by up to a half.
    public init(initial: Duration = .milliseconds(100), maximum: Duration = .seconds(15), jitter: Double = 0.5) {
        self.initial = max(initial, .milliseconds(1))
        self.maximum = max(maximum, initial)
        self.jitter = min(max(jitter, 0), 1)
    }
}
