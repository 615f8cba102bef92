/// How many processes a plugin has, where each of them works for one caller at a time.
public struct PoolSettings: Sendable, Equatable {
    /// Whom a process is given to.
    public enum Lease: String, Sendable, CaseIterable {
        /// One call, which has it for itself.
        case call
        /// A session, from its first call to its end.
        case session
    }

    /// The most processes that a pool may be set to.
    public static let maximumProcesses = 1_024

    /// So many are started ahead, and there at any time; from 0 to ``maximum``.
    public var minimum: Int
    /// So many are there at the most; from 1 to ``maximumProcesses``.
    public var maximum: Int
    /// Whom one is given to.
    public var per: Lease
    /// One that was given away so often is replaced.
    public var maximumUses: Int
    /// One that has grown by so much since it was ready is replaced, in bytes of resident memory.
    public var growthBytes: UInt64
    /// Those beyond ``minimum`` that have not been needed for so long are ended, within as long again.
    public var idle: Duration

    /// Settings of a pool; the defaults are what the documentation says.
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
