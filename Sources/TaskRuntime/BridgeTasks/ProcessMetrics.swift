/// The resource usage of the daemon's process, with the names that monitoring systems use.
public struct ProcessMetrics: Sendable, Hashable {
    /// The processor time of all its threads in user and kernel mode, in seconds.
    public var cpuSeconds: Double
    /// The size of its memory in RAM.
    public var residentBytes: UInt64
    /// The size of its address space.
    public var virtualBytes: UInt64
    /// The number of open descriptors.
    public var openDescriptors: UInt64
    /// The maximum number of descriptors; `nil` if there is no maximum.
    public var maximumDescriptors: UInt64?
    /// The time of its start, in seconds since 1970.
    public var startSeconds: Double

    /// Creates the metrics.
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
