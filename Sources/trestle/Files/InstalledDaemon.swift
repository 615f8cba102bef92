import PrivateDaemon

/// Where the program `trestled` is.
enum InstalledDaemon {
    /// The daemon that came with this program. Blocks.
    ///
    /// - Parameter searchesPath: Whether one in a folder of PATH will do.
    /// - Throws: ``MissingPrograms``.
    static func path(searchesPath: Bool = false) throws(MissingPrograms) -> String {
        let folders = [TrestlePrograms.ownFolder].compactMap { $0 }
        return try TrestlePrograms(in: folders + (searchesPath ? TrestlePrograms.searchPath : [])).daemon
    }
}
