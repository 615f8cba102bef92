import Glibc
import Synchronization

/// An installed version of a package. Its files stay on disk while this object exists, even if a newer version has
/// replaced it. Any thread.
public final class InstalledPackage: Sendable {
    /// The manifest.
    public let manifest: PackageManifest
    /// The key that signed it.
    public let key: PackageKey
    /// The time of installation, in seconds since 1970.
    public let installedSeconds: Int64
    /// The name of the version's folder.
    let name: String
    private let tree: OpenFile
    /// Called when the last reference is released.
    private let onRelease = Mutex<(@Sendable () -> Void)?>(nil)

    /// Opens a version's folder.
    ///
    /// - Throws: The fault of the package.
    init(
        _ name: String, in folder: OpenFile, _ keys: [PackageKey], _ limits: PackageLimits
    ) throws(PackageFault) {
        let version = try folder.folder(name)
        let (manifest, signature) = try PackageFile.head(of: version, keys, limits)
        tree = try version.folder(PackagePath.files)
        installedSeconds = Int64(try version.status().st_mtim.tv_sec)
        (self.name, self.manifest, key) = (name, manifest, signature.key)
    }

    deinit { onRelease.withLock { $0.take() }?() }

    /// Sets the closure that is called when the last reference is released.
    func whenReleased(_ body: @escaping @Sendable () -> Void) { onRelease.withLock { $0 = body } }

    /// Opens a file. Waits for the disk.
    ///
    /// - Parameter file: A file of the manifest.
    /// - Throws: `storage`; `file` if the file on disk has another length.
    public func open(_ file: PackageManifest.File) throws(PackageFault) -> PackageFileReader {
        let open = try FileTree.open(file.path, in: tree)
        let status = try open.status()
        guard status.st_mode & S_IFMT == S_IFREG, Int64(status.st_size) == file.byteCount else {
            throw PackageFault(.file, "\(open.path) does not have the length that the manifest specifies")
        }
        return PackageFileReader(file: open, package: self)
    }
}

/// An open file of an installed package. One thread at a time.
public struct PackageFileReader: Sendable {
    fileprivate let file: OpenFile
    /// A reference that keeps the version on disk.
    fileprivate let package: InstalledPackage

    /// Reads the next bytes. Waits for the disk.
    ///
    /// - Parameter count: The maximum number of bytes.
    /// - Returns: The bytes; empty at the end.
    /// - Throws: `storage`.
    public func read(upTo count: Int) throws(PackageFault) -> [UInt8] { try file.read(upTo: count) }

    /// Returns a new descriptor of the file. The caller closes it.
    ///
    /// - Throws: `storage`.
    public func descriptor() throws(PackageFault) -> Int32 {
        let copy = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw .system("cannot be opened once more", file.path) }
        return copy
    }
}
