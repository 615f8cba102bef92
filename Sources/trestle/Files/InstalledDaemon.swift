import PrivateDaemon

/// The location of the program `trestled`.
enum InstalledDaemon {
    /// Returns the path of the daemon beside this program. Blocks.
    ///
    /// - Parameter searchesPath: Whether to search the folders of PATH, too.
    /// - Throws: ``MissingPrograms``.
    static func path(searchesPath: Bool = false) throws(MissingPrograms) -> String {
        let folders = [TrestlePrograms.ownFolder].compactMap { $0 }
        return try TrestlePrograms(in: folders + (searchesPath ? TrestlePrograms.searchPath : [])).daemon
    }
}
