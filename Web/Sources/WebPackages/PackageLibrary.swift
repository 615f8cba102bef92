// WebPackages: the offline packages of this user, for the container and its command line: installed versions, and what
// is answered to requests for their files. Nothing of the engine's.
internal import Glibc
public import OfflinePackages

/// The packages that pages can be shown from. Every method waits for the disk. Several processes may use one library:
/// those that change it take turns.
public struct PackageLibrary: Sendable, Hashable {
    /// A package that is installed.
    public struct Entry: Codable, Sendable, Hashable {
        /// What names it.
        public var id: String
        /// The version that is used.
        public var version: String
        /// The version before, which can be rolled back to.
        public var previous: String?
    }

    /// Bytes that are read of an archive at once.
    private static let chunkBytes = 128 << 10

    /// Where they are.
    public let folder: String
    /// Whose packages are used.
    public let keys: [PackageKey]

    /// A library.
    ///
    /// - Parameters:
    ///   - folder: Where the packages are; it is made when the first one is installed.
    ///   - keys: Whose packages are used.
    public init(_ folder: String, keys: [PackageKey]) {
        self.folder = folder
        self.keys = keys
    }

    /// The version of a package that is used.
    ///
    /// - Parameter id: The package's id.
    /// - Throws: `missing`; what is wrong with the package; `storage`.
    public func current(_ id: String) throws(PackageFault) -> InstalledPackage {
        try PackageStore.current(id, at: folder, keys: keys)
    }

    /// The packages, by their ids, and what is wrong with those that are not used.
    ///
    /// - Throws: `storage`.
    public func list() throws(PackageFault) -> (entries: [Entry], faults: [String]) {
        try change { store throws(PackageFault) in
            (store.packages.map { Self.entry($0, $1) }.sorted { $0.id < $1.id }, store.faults)
        }
    }

    /// Installs a package from a file; it takes the place of the version before.
    ///
    /// - Parameter file: The archive.
    /// - Throws: What is wrong with the package; `limit`, `full`, `storage`. Nothing has changed then.
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

    /// Goes back to the version before.
    ///
    /// - Parameter id: The package's id.
    /// - Throws: `missing`, `storage`, `full`.
    public func rollBack(_ id: String) throws(PackageFault) -> Entry {
        try change { store throws(PackageFault) in
            _ = try store.rollBack(id)
            guard let versions = store.packages[id] else { throw Self.fault(id, "is no package any more") }
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
            // Those that are there, and those that may not be made, are found out by the next step.
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
