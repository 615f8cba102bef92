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
            return try InstalledPackage(state.current, in: folder, keys, limits)
        } catch {
            // Another version may have become current meanwhile.
            let later = try VersionState(in: folder)
            guard later.current != state.current else { throw error }
            return try InstalledPackage(later.current, in: folder, keys, limits)
        }
    }
}
