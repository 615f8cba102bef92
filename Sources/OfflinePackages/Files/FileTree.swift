import Glibc

/// The files of a folder and its subfolders.
enum FileTree {
    /// Lists the files, in no particular order.
    ///
    /// - Parameter folder: The folder.
    /// - Returns: Their paths, relative to the folder.
    /// - Throws: `path` if an entry is neither a file nor a folder; `limit`, `storage`.
    static func paths(in folder: OpenFile) throws(PackageFault) -> [String] {
        var paths: [String] = []
        try collect(folder, "", depth: 0, &paths)
        return paths
    }

    private static func collect(
        _ folder: OpenFile, _ prefix: String, depth: Int, _ paths: inout [String]
    ) throws(PackageFault) {
        guard depth < PackagePath.maximumParts else { throw PackageFault(.limit, "\(folder.path) is nested too deep") }
        for name in try folder.names(upTo: PackageLimits.files) {
            let entry = try OpenFile(name, in: folder)
            switch try entry.status().st_mode & S_IFMT {
            case S_IFDIR: try collect(entry, "\(prefix)\(name)/", depth: depth + 1, &paths)
            case S_IFREG:
                guard paths.count < PackageLimits.files else {
                    throw PackageFault(.limit, "the package has more than \(PackageLimits.files) files")
                }
                paths.append(prefix + name)
            default: throw PackageFault(.path, "\(entry.path) is neither a file nor a folder")
            }
        }
    }

    /// Opens a file of a folder.
    ///
    /// - Parameters:
    ///   - path: A valid path of a package.
    ///   - folder: The folder. Links are not followed.
    /// - Throws: `storage`, `path`.
    static func open(_ path: String, in folder: OpenFile) throws(PackageFault) -> OpenFile {
        let (folders, name) = parts(path)
        var last = folder
        for folder in folders { last = try last.folder(folder) }
        return try OpenFile(name, in: last)
    }

    /// Creates a file in a folder, and the folders on the way to it.
    ///
    /// - Throws: `storage`, `full`.
    static func make(_ path: String, in folder: OpenFile) throws(PackageFault) -> OpenFile {
        let (folders, name) = parts(path)
        var last = folder
        for folder in folders { last = try last.folder(folder, makes: true) }
        return try OpenFile(name, in: last, O_WRONLY | O_CREAT | O_EXCL)
    }

    /// Flushes the folders of files, so that the files' directory entries are on disk.
    ///
    /// - Parameters:
    ///   - paths: The files.
    ///   - folder: The folder that contains them.
    /// - Throws: `storage`, `full`.
    static func flushFolders(of paths: [String], in folder: OpenFile) throws(PackageFault) {
        var flushed: Set<[String]> = []
        for path in paths {
            var folders = parts(path).folders
            while !folders.isEmpty, flushed.insert(folders).inserted {
                var last = folder
                for name in folders { last = try last.folder(name) }
                try last.flush()
                folders.removeLast()
            }
        }
        try folder.flush()
    }

    private static func parts(_ path: String) -> (folders: [String], name: String) {
        let parts = path.utf8.split(separator: UInt8(ascii: "/")).map { String($0) ?? "" }
        return (Array(parts.dropLast()), parts.last ?? "")
    }

    /// Removes an entry of a folder, with its contents. Ignores errors.
    static func remove(_ name: String, in folder: OpenFile) {
        if unlinkat(folder.descriptor, name, 0) == 0 || errno == ENOENT { return }
        guard let inner = try? folder.folder(name) else { return }
        for name in (try? inner.names(upTo: .max)) ?? [] { remove(name, in: inner) }
        unlinkat(folder.descriptor, name, AT_REMOVEDIR)
    }
}
