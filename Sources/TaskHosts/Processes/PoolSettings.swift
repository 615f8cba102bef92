/// The settings of a pool: the processes of a plugin that each work for one caller at a time.
public struct PoolSettings: Sendable, Equatable {
    /// The kind of caller that a process is assigned to.
    public enum Lease: String, Sendable, CaseIterable {
        /// One call, for which the process works exclusively.
        case call
        /// A session, from its first call to its end.
        case session
    }

    /// The greatest value of ``maximum``.
    public static let maximumProcesses = 1_024

    /// The number of processes that are started ahead and always kept; from 0 to ``maximum``.
    public var minimum: Int
    /// The maximum number of processes; from 1 to ``maximumProcesses``.
    public var maximum: Int
    /// The kind of caller that a process is assigned to.
    public var per: Lease
    /// The number of assignments after which a process is replaced.
    public var maximumUses: Int
    /// The growth of resident memory since the process was ready, in bytes, beyond which it is replaced.
    public var growthBytes: UInt64
    /// The time without need after which processes beyond ``minimum`` are ended, at most the same time later.
    public var idle: Duration

    /// Creates settings with the documented default values.
    public init(
        minimum: Int, maximum: Int, per: Lease = .call, maximumUses: Int = 1_000, growthBytes: UInt64 = 64 << 20,
        idle: Duration = .seconds(60)
    ) {
        self.minimum = minimum
        self.maximum = maximum
        self.per = per
        self.maximumUses = maximumUses
        self.growthBytes = growthBytes
        self.idle = idle
    }
}
