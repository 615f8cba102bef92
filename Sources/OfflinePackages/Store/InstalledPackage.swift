import Glibc
import Synchronization

/// A version of a package that is installed. Its files stay on disk for as long as somebody holds this, also when a
/// newer version has taken its place. Any thread.
public final class InstalledPackage: Sendable {
    /// The manifest.
    public let manifest: PackageManifest
    /// The key that signed it.
    public let key: PackageKey
    /// When it was unpacked, in seconds since 1970.
    public let installedSeconds: Int64
    /// The name of the version's folder.
    let name: String
    private let tree: OpenFile
    /// What happens when nobody holds it any more.
    private let onRelease = Mutex<(@Sendable () -> Void)?>(nil)

    /// Opens a version's folder.
    ///
    /// - Throws: What is wrong with it.
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

    /// Has something done when nobody holds it any more.
    func whenReleased(_ body: @escaping @Sendable () -> Void) { onRelease.withLock { $0 = body } }

    /// Opens a file. Waits for the disk.
    ///
    /// - Parameter file: One of the manifest.
    /// - Throws: `storage`; `file`, where the file on disk has another length.
    public func open(_ file: PackageManifest.File) throws(PackageFault) -> PackageFileReader {
        let open = try FileTree.open(file.path, in: tree)
        let status = try open.status()
        guard status.st_mode & S_IFMT == S_IFREG, Int64(status.st_size) == file.byteCount else {
            throw PackageFault(.file, "\(open.path) does not have the length that the manifest says")
        }
        return PackageFileReader(file: open, package: self)
    }
}

/// A file of an installed package that is being read. One thread at a time.
public struct PackageFileReader: Sendable {
    fileprivate let file: OpenFile
    /// Held, so that the version stays.
    fileprivate let package: InstalledPackage

    /// Reads the next bytes. Waits for the disk.
    ///
    /// - Parameter count: How many at most.
    /// - Returns: None at the end.
    /// - Throws: `storage`.
    public func read(upTo count: Int) throws(PackageFault) -> [UInt8] { try file.read(upTo: count) }

    /// A descriptor of the file, for those who read it otherwise. They close it.
    ///
    /// - Throws: `storage`.
    public func descriptor() throws(PackageFault) -> Int32 {
        let copy = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw .system("cannot be opened once more", file.path) }
        return copy
    }
}
