// OfflinePackages: files of a web application that are installed, and served in place of the network. docs/packages.md
// describes the format.
//
//   Format/   what a package says of itself, its paths, keys and signature; what is wrong with one
//   Files/    files and folders of the disk, by descriptor
//   Archive/  packages as one file: tar under zstd; packages that are made, and read
//   Store/    installed packages
//
// The folders lie in an order, each above those that it uses. It waits for the disk: callers run it on a thread of
// theirs.

/// What is wrong with a package, or what failed on the way.
public struct PackageFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// Which kind of fault.
    public enum Reason: String, Sendable, CaseIterable {
        /// The bytes are no package.
        case format
        /// The manifest says something that no manifest may say.
        case manifest
        /// A path, or something at one, that no package may have.
        case path
        /// The signature does not fit the manifest.
        case signature
        /// The signature's key is not trusted.
        case key
        /// A file is not what the manifest says.
        case file
        /// A limit is passed.
        case limit
        /// There is no such package, or no older version.
        case missing
        /// Another installation is under way.
        case busy
        /// The disk is full.
        case full
        /// The disk fails.
        case storage
    }

    /// Which kind of fault.
    public let reason: Reason
    /// A sentence.
    public let description: String

    /// - Parameters:
    ///   - reason: Which kind of fault.
    ///   - description: A sentence: what is wrong, and where.
    public init(_ reason: Reason, _ description: String) {
        self.reason = reason
        self.description = description
    }
}
