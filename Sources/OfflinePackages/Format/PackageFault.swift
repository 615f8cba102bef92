// OfflinePackages: installable files of a web application that are served in place of the network. docs/packages.md
// describes the format.
//
//   Format/   manifests, paths, keys, signatures, and faults of packages
//   Files/    files and folders of the disk, by descriptor
//   Archive/  packages as one file: tar compressed with zstd; writing and reading packages
//   Store/    installed packages
//
// Each folder uses only the folders listed before it. The module waits for the disk: callers run it on their own
// thread.

/// A fault of a package, or a failure while it was processed.
public struct PackageFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of a fault.
    public enum Reason: String, Sendable, CaseIterable {
        /// The bytes are not a package.
        case format
        /// The manifest contains something invalid.
        case manifest
        /// A path, or the entry at a path, is not allowed in a package.
        case path
        /// The signature does not match the manifest.
        case signature
        /// The signature's key is not trusted.
        case key
        /// A file differs from the manifest.
        case file
        /// A limit is exceeded.
        case limit
        /// The package does not exist, or has no older version.
        case missing
        /// Another installation is in progress.
        case busy
        /// The disk is full.
        case full
        /// The disk failed.
        case storage
    }

    /// The kind of the fault.
    public let reason: Reason
    /// The description, as a sentence.
    public let description: String

    /// - Parameters:
    ///   - reason: The kind of the fault.
    ///   - description: A sentence that states what is wrong and where.
    public init(_ reason: Reason, _ description: String) {
        self.reason = reason
        self.description = description
    }
}
