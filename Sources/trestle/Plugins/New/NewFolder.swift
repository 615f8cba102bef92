import ArgumentParser
import Glibc

/// A folder that appears complete or not at all: it is filled under another name and renamed at the end. An existing
/// empty folder is filled in place.
enum NewFolder {
    /// Writes files into a folder that does not exist or is empty. Blocks.
    ///
    /// - Throws: The exit code if it is not empty; ``FileFailure``. All written files are removed then.
    static func write(_ files: [PluginTemplate.File], to path: String) throws {
        let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        try check(path)
        // A shell may be in an existing folder, such as `.`; it would not be in a folder that replaces it.
        if access(path, F_OK) == 0 { return try fill(path, files) }
        let (folder, _) = try SiblingPath.make(beside: path) { mkdir($0, 0o777) }
        do {
            for file in files { try write(file, in: folder) }
            // Replaces an empty folder that was created meanwhile, and nothing else.
            guard rename(folder, path) == 0 else {
                try check(path)
                throw FileFailure(path, "cannot be created")
            }
        } catch {
            remove(folder, files)
            throw error
        }
    }

    /// Fills an empty folder; empties it again on failure.
    private static func fill(_ folder: String, _ files: [PluginTemplate.File]) throws {
        do {
            for file in files { try write(file, in: folder) }
        } catch {
            empty(folder, files)
            throw error
        }
    }

    private static func check(_ path: String) throws {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw UsageFailure("\(path) exists and is not a folder: name another with --directory")
        }
        guard let stream = opendir(path) else { throw FileFailure(path, "cannot be read") }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            // Every folder contains `.` and `..`.
            let first = entry.pointee.d_name
            let isDots = first.0 == 46 && (first.1 == 0 || (first.1 == 46 && first.2 == 0))
            guard isDots else {
                throw UsageFailure("\(path) exists and is not empty: name another folder with --directory")
            }
        }
    }

    private static func write(_ file: PluginTemplate.File, in folder: String) throws {
        let parts = file.path.split(separator: "/").map(String.init)
        for count in 1..<max(1, parts.count) {
            mkdir(([folder] + parts.prefix(count)).joined(separator: "/"), 0o777)
        }
        let path = "\(folder)/\(file.path)"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, file.isExecutable ? 0o777 : 0o666)
        guard descriptor >= 0 else { throw FileFailure(path, "cannot be created") }
        defer { close(descriptor) }
        let bytes = Array(file.text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw FileFailure(path, "cannot be written")
        }
    }

    /// Removes the folder with the files that were written here; it contains no others.
    private static func remove(_ folder: String, _ files: [PluginTemplate.File]) {
        empty(folder, files)
        rmdir(folder)
    }

    private static func empty(_ folder: String, _ files: [PluginTemplate.File]) {
        for file in files {
            var parts = file.path.split(separator: "/").map(String.init)
            unlink("\(folder)/\(file.path)")
            while parts.count > 1 {
                parts.removeLast()
                rmdir(([folder] + parts).joined(separator: "/"))
            }
        }
    }
}
