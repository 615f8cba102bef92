// WebPackages: the offline packages of this user, for the container and its command line: installed versions, and the
// answers to requests for their files. Independent of the engine.
internal import Glibc
public import OfflinePackages

/// The packages from which pages can be shown. Every method waits for the disk. Several processes may use one library;
/// processes that change it take turns.
public struct PackageLibrary: Sendable, Hashable {
    /// An installed package.
    public struct Entry: Codable, Sendable, Hashable {
        /// The package's id.
        public var id: String
        /// The current version.
        public var version: String
        /// The previous version, for a rollback; `nil` for none.
        public var previous: String?
    }

    /// The number of bytes of one read from an archive.
    private static let chunkBytes = 128 << 10

    /// The folder of the packages.
    public let folder: String
    /// The trusted keys: only packages that they sign are used.
    public let keys: [PackageKey]

    /// Creates a library.
    ///
    /// - Parameters:
    ///   - folder: The folder of the packages; it is created when needed.
    ///   - keys: The trusted keys.
    public init(_ folder: String, keys: [PackageKey]) {
        self.folder = folder
        self.keys = keys
    }

    /// Returns the current version of a package.
    ///
    /// - Parameter id: The package's id.
    /// - Throws: `missing`; the fault of the package; `storage`.
    public func current(_ id: String) throws(PackageFault) -> InstalledPackage {
        try PackageStore.current(id, at: folder, keys: keys)
    }

    /// Returns the packages, ordered by id, and the faults of unusable ones.
    ///
    /// - Throws: `storage`.
    public func list() throws(PackageFault) -> (entries: [Entry], faults: [String]) {
        try change { store throws(PackageFault) in
            (store.packages.map { Self.entry($0, $1) }.sorted { $0.id < $1.id }, store.faults)
        }
    }

    /// Installs a package from a file; it replaces the previous version.
    ///
    /// - Parameter file: The archive.
    /// - Throws: The fault of the package; `limit`, `full`, `storage`. Nothing has changed then.
    public func install(_ file: String) throws(PackageFault) -> Entry {
        try change { store throws(PackageFault) in
            let descriptor = open(file, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw Self.fault(file, "cannot be opened") }
            defer { close(descriptor) }
            let installation = try store.install()
            while case let bytes = try Self.read(descriptor, file), !bytes.isEmpty { try installation.take(bytes) }
            let id = try installation.finish().manifest.head.id
            guard let versions = store.packages[id] else { throw Self.fault(file, "is not installed") }
            return Self.entry(id, versions)
        }
    }

    /// Returns to the previous version.
    ///
    /// - Parameter id: The package's id.
    /// - Throws: `missing`, `storage`, `full`.
    public func rollBack(_ id: String) throws(PackageFault) -> Entry {
        try change { store throws(PackageFault) in
            _ = try store.rollBack(id)
            guard let versions = store.packages[id] else { throw Self.fault(id, "is no longer a package") }
            return Self.entry(id, versions)
        }
    }

    /// Removes a package with all its versions.
    ///
    /// - Parameter id: The package's id.
    /// - Throws: `missing`, `storage`.
    public func remove(_ id: String) throws(PackageFault) {
        try change { store throws(PackageFault) in _ = try store.remove(id) }
    }

    // MARK: -

    /// Opens the store while no other process changes it.
    private func change<Result>(
        _ body: (PackageStore) throws(PackageFault) -> Result
    ) throws(PackageFault) -> Result {
        var way = ""
        for part in folder.split(separator: "/") {
            way += "/\(part)"
            // Folders that exist or cannot be created are detected by the next step.
            mkdir(way, 0o700)
        }
        let lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0 else { throw Self.fault(folder, "cannot be opened") }
        defer { close(lock) }
        while flock(lock, LOCK_EX) != 0 {
            guard errno == EINTR else { throw Self.fault(folder, "cannot be locked") }
        }
        return try body(try PackageStore(folder, keys: keys) { $0() })
    }

    private static func read(_ descriptor: Int32, _ file: String) throws(PackageFault) -> [UInt8] {
        var failed = false
        let bytes = [UInt8](unsafeUninitializedCapacity: chunkBytes) { buffer, count in
            let status = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            failed = status < 0
            count = max(0, status)
        }
        if failed { throw fault(file, "cannot be read") }
        return bytes
    }

    private static func entry(_ id: String, _ versions: PackageStore.Versions) -> Entry {
        Entry(
            id: id, version: versions.current.manifest.head.version,
            previous: versions.previous?.manifest.head.version)
    }

    private static func fault(_ path: String, _ what: String) -> PackageFault {
        PackageFault(.storage, "\(path) \(what): \(String(cString: strerror(errno)))")
    }
}
