import Glibc
import Synchronization

/// The packages of one user, in a folder. Each package has a subfolder with its current version, the previous version,
/// and a file that names the two.
///
/// A version is unpacked beside the others and becomes current atomically. After a crash either the old or the new
/// version is current. Every method waits for the disk; `packages` does not. Methods that change the store must be
/// called on one thread at a time.
public final class PackageStore: Sendable {
    /// The versions of a package.
    public struct Versions: Sendable {
        /// The current version.
        public var current: InstalledPackage
        /// The version before, the target of a rollback; `nil` if there is none.
        public var previous: InstalledPackage?

        /// The size of both in bytes.
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
    /// Runs a closure that removes files on a thread that may block.
    private let later: @Sendable (@escaping @Sendable () -> Void) -> Void
    /// The faults of packages that were found and are not used, as sentences.
    public let faults: [String]

    /// The prefix of folders that are not finished, or that must be removed.
    static let temporaryMark = "."

    /// Opens a store and removes the remains of a crash.
    ///
    /// - Parameters:
    ///   - path: Its folder, which is created if it does not exist.
    ///   - keys: The keys whose packages are used. Packages of other keys are ignored.
    ///   - limits: The limits of packages and store.
    ///   - later: Runs a closure on another thread soon.
    /// - Throws: `storage`, `full`.
    public init(
        _ path: String, keys: [PackageKey], _ limits: PackageLimits = PackageLimits(),
        later: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) throws(PackageFault) {
        let isNew = mkdir(path, 0o700) == 0
        guard isNew || errno == EEXIST else { throw .system("cannot be created", path) }
        folder = try OpenFile(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        // Otherwise the packages could be lost together with their folder.
        if isNew { try OpenFile("\(path)/..", O_RDONLY | O_DIRECTORY).flush() }
        (self.keys, self.limits, self.later) = (keys, limits, later)
        var (packages, faults): ([String: Versions], [String]) = ([:], [])
        for name in try folder.names(upTo: .max) {
            // An installation that was not completed, or a package that was removed.
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
        let current = try installed(state.current, of: id, in: folder, keys, limits)
        let previous = state.previous.flatMap { try? installed($0, of: id, in: folder, keys, limits) }
        return Versions(current: current, previous: previous)
    }

    // MARK: Packages

    /// The packages, by their ids.
    public var packages: [String: Versions] { state.withLock { $0.packages } }

    /// Begins to install a package. Only one installation is possible at a time.
    ///
    /// - Parameter check: Refuses a manifest by throwing a fault, before any file is written.
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

    /// Makes the previous version current; the current one becomes the previous one.
    ///
    /// - Parameter id: The package's id.
    /// - Returns: The version that is current now.
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

    /// Removes a package with all its versions. Files that are being read stay until their readers are released.
    ///
    /// - Parameter id: The package's id.
    /// - Returns: The version that was current.
    /// - Throws: `missing`, `storage`.
    @discardableResult
    public func remove(_ id: String) throws(PackageFault) -> InstalledPackage {
        guard let versions = packages[id] else { throw Self.missing(id) }
        // Without this file the folder is not a package.
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

    /// Checks that a package fits into the store.
    ///
    /// - Throws: `limit`.
    func checkRoom(for manifest: PackageManifest) throws(PackageFault) {
        let packages = packages
        let own = packages[manifest.head.id]
        guard own != nil || packages.count < limits.packages else {
            throw PackageFault(.limit, "\(limits.packages) packages are installed, which is the maximum")
        }
        let used = packages.values.reduce(0) { $0 + $1.contentBytes } - (own?.previous?.manifest.contentBytes ?? 0)
        guard manifest.contentBytes <= limits.storeBytes - used else {
            throw PackageFault(
                .limit, "the packages of a user may have \(limits.storeBytes) bytes, and \(used) of them are used")
        }
    }

    /// Makes an unpacked version the current one.
    ///
    /// - Parameter temporary: The folder that contains it.
    /// - Throws: `limit`, `storage`, `full`; the old version then stays current.
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
            // The first failure is reported.
            try? undo(name, in: folder, to: old)
            throw error
        }
        state.withLock { $0.packages[id] = Versions(current: package, previous: old?.current) }
        old?.previous.map { discard($0, of: folder, id) }
        return package
    }

    /// Removes a version that could not become the current one. If the state names it, the old state is written first;
    /// if that fails too, the version stays, because a restart may find it as the current one.
    private func undo(_ name: String, in folder: OpenFile, to old: Versions?) throws(PackageFault) {
        if (try? VersionState(in: folder))?.current == name {
            if let old {
                try VersionState(current: old.current.name, previous: old.previous?.name).write(to: folder)
            } else {
                unlinkat(folder.descriptor, VersionState.file, 0)
                try folder.flush()
            }
        }
        FileTree.remove(name, in: folder)
    }

    /// Removes a version when its last reader is released.
    private func discard(_ version: InstalledPackage, of folder: OpenFile, _ id: String) {
        let (later, name, parent) = (later, version.name, self.folder)
        version.whenReleased {
            later {
                FileTree.remove(name, in: folder)
                self.state.withLock { state in
                    // An installation moves a version into this folder.
                    guard state.packages[id] == nil, !state.isInstalling else { return }
                    // Succeeds only if this was the last version.
                    unlinkat(parent.descriptor, id, AT_REMOVEDIR)
                }
            }
        }
    }
}

/// The form of names in messages.
enum PlainName {
    static func shown(_ name: String) -> String {
        String(name.prefix(64).map { $0.isASCII && !$0.isNewline && $0 >= " " ? $0 : "?" })
    }
}
