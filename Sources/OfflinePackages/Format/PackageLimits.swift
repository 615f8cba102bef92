/// What a package may have at most. A reader checks each bound before it takes what the bound is about.
public struct PackageLimits: Sendable, Hashable {
    /// Bytes of a manifest: 10,000 files with paths of 245 bytes fit.
    public static let manifestBytes = 6 << 20
    /// Files of a package.
    public static let files = 10_000
    /// Bytes of a manifest's signature.
    static let signatureBytes = 1024

    /// Bytes of a package's files.
    public var contentBytes: Int64 = 256 << 20
    /// Packages of a store.
    public var packages = 32
    /// Bytes of all files of a store, those of older versions too.
    public var storeBytes: Int64 = 512 << 20

    /// The standard ones.
    public init() {}
}
