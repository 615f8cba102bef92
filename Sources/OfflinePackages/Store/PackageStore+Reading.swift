import Glibc

extension PackageStore {
    /// The version of a package that is used, for programs that only read a store which another one changes. Changes
    /// nothing. Waits for the disk.
    ///
    /// - Parameters:
    ///   - id: The package's id.
    ///   - path: The store's folder.
    ///   - keys: Whose packages are used.
    ///   - limits: What it may have.
    /// - Returns: The version. Its files stay until two newer versions have been installed.
    /// - Throws: `missing`; what is wrong with the package; `storage`.
    public static func current(
        _ id: String, at path: String, keys: [PackageKey], _ limits: PackageLimits = PackageLimits()
    ) throws(PackageFault) -> InstalledPackage {
        guard PackageHead.isID(id), let folder = try? OpenFile(path, O_RDONLY | O_DIRECTORY).folder(id),
            let state = try? VersionState(in: folder)
        else { throw missing(id) }
        do throws(PackageFault) {
            return try InstalledPackage(state.current, in: folder, keys, limits)
        } catch {
            // Another version may have taken its place meanwhile.
            let later = try VersionState(in: folder)
            guard later.current != state.current else { throw error }
            return try InstalledPackage(later.current, in: folder, keys, limits)
        }
    }
}
