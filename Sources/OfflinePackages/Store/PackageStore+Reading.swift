import Glibc

extension PackageStore {
    /// Opens the current version of a package, for a program that only reads a store which another program changes.
    /// Changes nothing. Waits for the disk.
    ///
    /// - Parameters:
    ///   - id: The package's id.
    ///   - path: The store's folder.
    ///   - keys: The keys whose packages are used.
    ///   - limits: The limits of the package.
    /// - Returns: The version. Its files stay until two newer versions have been installed.
    /// - Throws: `missing`; the fault of the package; `storage`.
    public static func current(
        _ id: String, at path: String, keys: [PackageKey], _ limits: PackageLimits = PackageLimits()
    ) throws(PackageFault) -> InstalledPackage {
        guard PackageHead.isID(id), let folder = try? OpenFile(path, O_RDONLY | O_DIRECTORY).folder(id),
            let state = try? VersionState(in: folder)
        else { throw missing(id) }
        do throws(PackageFault) {
            return try installed(state.current, of: id, in: folder, keys, limits)
        } catch {
            // Another version may have become current meanwhile.
            let later = try VersionState(in: folder)
            guard later.current != state.current else { throw error }
            return try installed(later.current, of: id, in: folder, keys, limits)
        }
    }

    /// Opens a version of a package.
    ///
    /// - Throws: `manifest` if its manifest has another id; the fault of the package; `storage`.
    static func installed(
        _ name: String, of id: String, in folder: OpenFile, _ keys: [PackageKey], _ limits: PackageLimits
    ) throws(PackageFault) -> InstalledPackage {
        let package = try InstalledPackage(name, in: folder, keys, limits)
        guard package.manifest.head.id == id else { throw PackageFault(.manifest, "its manifest has another id") }
        return package
    }
}
