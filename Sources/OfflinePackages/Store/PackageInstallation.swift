import Synchronization

/// The installation of a package into a store. If it is not finished, all its files are removed. Any thread; waits for
/// the disk.
public final class PackageInstallation: Sendable {
    private let store: PackageStore
    /// The name of the folder that it is unpacked into.
    private let name: String
    private let folder: OpenFile
    private let reader: Mutex<ArchiveReader?>
    private let isOver = Mutex(false)

    init(
        _ store: PackageStore, _ check: @escaping @Sendable (PackageManifest) throws(PackageFault) -> Void
    ) throws(PackageFault) {
        self.store = store
        name = "\(PackageStore.temporaryMark)\(VersionState.newName())"
        folder = try store.folder.folder(name, makes: true)
        let sink = Unpacking(folder, try folder.folder(PackagePath.files, makes: true)) {
            manifest throws(PackageFault) in
            try store.checkRoom(for: manifest)
            try check(manifest)
        }
        reader = Mutex(ArchiveReader(store.limits, keys: store.keys, sink: sink))
    }

    deinit { cancel() }

    /// Ends the installation: removes the unpacked files, unless it was finished. Another package can be installed
    /// then.
    public func cancel() {
        let wasOver = isOver.withLock { isOver in
            defer { isOver = true }
            return isOver
        }
        guard !wasOver else { return }
        FileTree.remove(name, in: store.folder)
        store.endInstallation()
    }

    /// Unpacks the next bytes of the archive.
    ///
    /// - Parameter bytes: Any number of bytes.
    /// - Throws: The fault of the package; `limit`, `full`, `storage`.
    public func take(_ bytes: [UInt8]) throws(PackageFault) {
        try reader.withLock { reader in
            bytes.withUnsafeBytes { bytes in
                Result { () throws(PackageFault) in
                    do throws(PackageFault) { try reader?.take(bytes) } catch {
                        // Accepts no more bytes after a failure.
                        reader = nil
                        throw error
                    }
                }
            }
        }.get()
    }

    /// Ends the input: flushes the version to disk and makes it the current one.
    ///
    /// - Returns: The version.
    /// - Throws: The fault of the package; `limit`, `full`, `storage`. The old version then stays current.
    public func finish() throws(PackageFault) -> InstalledPackage {
        let manifest = try reader.withLock { reader in
            Result { () throws(PackageFault) in
                guard let reader else { throw PackageFault(.format, "the package has failed already") }
                return try reader.finish()
            }
        }.get()
        // Each file was flushed at its end.
        try FileTree.flushFolders(of: manifest.files.map(\.path), in: try folder.folder(PackagePath.files))
        try folder.flush()
        let package = try store.takeOver(manifest, in: name)
        cancel()
        return package
    }
}

/// Writes the files of a package while it is read.
private final class Unpacking: PackageSink {
    private let folder: OpenFile
    private let tree: OpenFile
    private let check: (PackageManifest) throws(PackageFault) -> Void
    private var file: OpenFile?

    init(
        _ folder: OpenFile, _ tree: OpenFile, check: @escaping (PackageManifest) throws(PackageFault) -> Void
    ) {
        (self.folder, self.tree, self.check) = (folder, tree, check)
    }

    func begin(
        _ manifest: PackageManifest, _ bytes: [UInt8], _ signature: PackageSignature
    ) throws(PackageFault) {
        try check(manifest)
        try folder.replace(PackagePath.manifest, bytes)
        try folder.replace(PackagePath.signature, signature.bytes)
    }

    func beginFile(_ file: PackageManifest.File) throws(PackageFault) {
        self.file = try FileTree.make(file.path, in: tree)
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(PackageFault) { try file?.write(bytes) }

    func endFile() throws(PackageFault) {
        try file?.flush()
        file = nil
    }
}
