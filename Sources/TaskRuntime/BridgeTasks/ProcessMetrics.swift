/// What the daemon's process takes of the machine, as monitoring systems name it.
public struct ProcessMetrics: Sendable, Hashable {
    /// Processor time of all its threads, in user and kernel mode.
    public var cpuSeconds: Double
    /// Memory that is in RAM.
    public var residentBytes: UInt64
    /// Address space.
    public var virtualBytes: UInt64
    /// Open descriptors.
    public var openDescriptors: UInt64
    /// How many it may have; nil: any number.
    public var maximumDescriptors: UInt64?
    /// When it was started, in seconds since 1970.
    public var startSeconds: Double

    /// All of them.
    public init(
        cpuSeconds: Double, residentBytes: UInt64, virtualBytes: UInt64, openDescriptors: UInt64,
        maximumDescriptors: UInt64?, startSeconds: Double
    ) {
        self.cpuSeconds = cpuSeconds
        self.residentBytes = residentBytes
        self.virtualBytes = virtualBytes
        self.openDescriptors = openDescriptors
        self.maximumDescriptors = maximumDescriptors
        self.startSeconds = startSeconds
    }
}
