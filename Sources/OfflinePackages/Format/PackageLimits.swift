/// The limits of packages. A reader checks each limit before it accepts the data that the limit concerns.
public struct PackageLimits: Sendable, Hashable {
    /// The maximum size of a manifest in bytes: 10,000 files with paths of 245 bytes fit.
    public static let manifestBytes = 6 << 20
    /// The maximum number of files of a package.
    public static let files = 10_000
    /// The maximum size of a manifest's signature in bytes.
    static let signatureBytes = 1024

    /// The maximum size of all files of a package in bytes.
    public var contentBytes: Int64 = 256 << 20
    /// The maximum number of packages in a store.
    public var packages = 32
    /// The maximum size of all files of a store in bytes, including those of older versions.
    public var storeBytes: Int64 = 512 << 20

    /// Creates the default limits.
    public init() {}
}
