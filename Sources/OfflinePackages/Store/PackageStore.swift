import Glibc
import Synchronization

/// The packages of one user, in a folder of their own: for each package a folder with its versions, the one that is
/// used and the one before, and the file that says which is which.
///
/// A version is unpacked beside the others and takes its place in one step. A crash leaves the old version or the new
/// one. Every method but `packages` waits for the disk. What changes the store is done on one thread at a time.
public final class PackageStore: Sendable {
    /// The versions of a package.
    public struct Versions: Sendable {
        /// The one that is used.
        public var current: InstalledPackage
        /// The one before, which can be rolled back to.
        public var previous: InstalledPackage?

        /// How many bytes both have.
        public var contentBytes: Int64 { current.manifest.contentBytes + (previous?.manifest.contentBytes ?? 0) }
    }

    private struct State {
        var packages: [String: Versions] = [:]
        var isInstalling = false
    }

    let folder: OpenFile
    let limits: PackageLimits
    let keys: [PackageKey]
    private let state = Mutex(State())
    /// Runs what removes files, on a thread where it may take long.
    private let later: @Sendable (@escaping @Sendable () -> Void) -> Void
    /// What is wrong with packages that were found and are not used, in sentences.
    public let faults: [String]

    /// What begins so is not finished, or about to go.
    static let temporaryMark = "."

    /// Opens a store, and removes what a crash has left.
    ///
    /// - Parameters:
    ///   - path: Its folder, which is made where it is not there.
    ///   - keys: Whose packages it holds. Others that it has are not used.
    ///   - limits: What it may have.
    ///   - later: Runs something on another thread, soon.
    /// - Throws: `storage`, `full`.
    public init(
        _ path: String, keys: [PackageKey], _ limits: PackageLimits = PackageLimits(),
        later: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) throws(PackageFault) {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .system("cannot be made", path) }
        folder = try OpenFile(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        (self.keys, self.limits, self.later) = (keys, limits, later)
        var (packages, faults): ([String: Versions], [String]) = ([:], [])
        for name in try folder.names(upTo: .max) {
            // What has not become a package, or is none any more.
            let isPackage = faccessat(folder.descriptor, "\(name)/\(VersionState.file)", F_OK, 0) == 0
            if name.hasPrefix(Self.temporaryMark) || !isPackage && errno == ENOENT {
                FileTree.remove(name, in: folder)
                continue
            }
            do throws(PackageFault) {
                packages[name] = try Self.versions(of: name, in: folder, keys, limits)
            } catch {
                faults.append("the package \(name) is not used: \(error)")
            }
        }
        self.faults = faults
        state.withLock { $0.packages = packages }
    }

    private static func versions(
        of id: String, in folder: OpenFile, _ keys: [PackageKey], _ limits: PackageLimits
    ) throws(PackageFault) -> Versions {
        let folder = try folder.folder(id)
        let state = try VersionState(in: folder)
        for name in try folder.names(upTo: .max)
        where ![VersionState.file, state.current, state.previous].contains(name) {
            FileTree.remove(name, in: folder)
        }
        let current = try InstalledPackage(state.current, in: folder, keys, limits)
        guard current.manifest.head.id == id else { throw PackageFault(.manifest, "its manifest has another id") }
        let previous = state.previous.flatMap { try? InstalledPackage($0, in: folder, keys, limits) }
        return Versions(current: current, previous: previous)
    }

    // MARK: Packages

    /// The packages, by their ids.
    public var packages: [String: Versions] { state.withLock { $0.packages } }

    /// Begins to install a package. One at a time.
    ///
    /// - Parameter check: Refuses a manifest by a fault of its own, before any file is written.
    /// - Throws: `busy`, `storage`, `full`.
    public func install(
        _ check: @escaping @Sendable (PackageManifest) throws(PackageFault) -> Void = { _ in }
    ) throws(PackageFault) -> PackageInstallation {
        let isFree = state.withLock { state in
            defer { state.isInstalling = true }
            return !state.isInstalling
        }
        guard isFree else {
            throw PackageFault(.busy, "another package is being installed; try again when it is done")
        }
        do throws(PackageFault) { return try PackageInstallation(self, check) } catch {
            endInstallation()
            throw error
        }
    }

    func endInstallation() { state.withLock { $0.isInstalling = false } }

    /// Goes back to the version before; the one that is left becomes the one before.
    ///
    /// - Parameter id: The package's id.
    /// - Returns: The version that is used now.
    /// - Throws: `missing`, `storage`, `full`.
    public func rollBack(_ id: String) throws(PackageFault) -> InstalledPackage {
        guard let versions = packages[id] else { throw Self.missing(id) }
        guard let previous = versions.previous else {
            throw PackageFault(.missing, "there is no older version of the package \(id)")
        }
        try VersionState(current: previous.name, previous: versions.current.name).write(to: try folder.folder(id))
        state.withLock { $0.packages[id] = Versions(current: previous, previous: versions.current) }
        return previous
    }

    /// Removes a package with all its versions. Files that are being read stay until they have been.
    ///
    /// - Parameter id: The package's id.
    /// - Returns: The version that was used.
    /// - Throws: `missing`, `storage`.
    @discardableResult
    public func remove(_ id: String) throws(PackageFault) -> InstalledPackage {
        guard let versions = packages[id] else { throw Self.missing(id) }
        // Without this file it is no package any more.
        let folder = try self.folder.folder(id)
        guard unlinkat(folder.descriptor, VersionState.file, 0) == 0 else {
            throw .system("cannot be removed", "\(folder.path)/\(VersionState.file)")
        }
        try folder.flush()
        state.withLock { $0.packages[id] = nil }
        for version in [versions.current, versions.previous] { version.map { discard($0, of: folder, id) } }
        return versions.current
    }

    static func missing(_ id: String) -> PackageFault {
        PackageFault(.missing, "there is no package \(PlainName.shown(id))")
    }

    // MARK: Switching

    /// Whether a package may come.
    ///
    /// - Throws: `limit`.
    func checkRoom(for manifest: PackageManifest) throws(PackageFault) {
        let packages = packages
        let own = packages[manifest.head.id]
        guard own != nil || packages.count < limits.packages else {
            throw PackageFault(.limit, "\(limits.packages) packages are installed, which is the most")
        }
        let used = packages.values.reduce(0) { $0 + $1.contentBytes } - (own?.previous?.manifest.contentBytes ?? 0)
        guard manifest.contentBytes <= limits.storeBytes - used else {
            throw PackageFault(
                .limit, "the packages of a user may have \(limits.storeBytes) bytes, and \(used) of them are used")
        }
    }

    /// Takes a version over that has been unpacked.
    ///
    /// - Parameter temporary: The folder that it is in.
    /// - Throws: `limit`, `storage`, `full`; the old version stays.
    func takeOver(_ manifest: PackageManifest, in temporary: String) throws(PackageFault) -> InstalledPackage {
        try checkRoom(for: manifest)
        let id = manifest.head.id
        let old = packages[id]
        let folder = try self.folder.folder(id, makes: true)
        let name = VersionState.newName()
        guard renameat(self.folder.descriptor, temporary, folder.descriptor, name) == 0 else {
            throw .system("cannot be moved into", folder.path)
        }
        let package: InstalledPackage
        do throws(PackageFault) {
            package = try InstalledPackage(name, in: folder, keys, limits)
            try VersionState(current: name, previous: old?.current.name).write(to: folder)
            try self.folder.flush()
        } catch {
            FileTree.remove(name, in: folder)
            throw error
        }
        state.withLock { $0.packages[id] = Versions(current: package, previous: old?.current) }
        old?.previous.map { discard($0, of: folder, id) }
        return package
    }

    /// Removes a version once nobody reads it any more.
    private func discard(_ version: InstalledPackage, of folder: OpenFile, _ id: String) {
        let (later, name, parent) = (later, version.name, self.folder)
        version.whenReleased {
            later {
                FileTree.remove(name, in: folder)
                // Where it was the last one.
                unlinkat(parent.descriptor, id, AT_REMOVEDIR)
            }
        }
    }
}

/// Names in messages.
enum PlainName {
    static func shown(_ name: String) -> String {
        String(name.prefix(64).map { $0.isASCII && !$0.isNewline && $0 >= " " ? $0 : "?" })
    }
}
