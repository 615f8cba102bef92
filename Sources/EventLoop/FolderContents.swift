import Glibc

/// The contents of a folder.
public enum FolderContents {
    /// Returns the names of all entries except `.` and `..`, in no order. Blocks while the disk is read.
    public static func names(in path: String) throws(SystemError) -> [String] {
        var names: [String] = []
        try forEach(in: path) { name in
            names.append(name)
            return true
        }
        return names
    }

    /// Removes a file, or a folder with its contents. Entries that cannot be removed stay. Blocks.
    public static func remove(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            unlink(path)
            return
        }
        for name in (try? names(in: path)) ?? [] { remove("\(path)/\(name)") }
        rmdir(path)
    }

    /// Calls `body` with each of these names until it returns false. Blocks while the disk is read.
    static func forEach(in path: String, _ body: (String) -> Bool) throws(SystemError) {
        guard let stream = opendir(path) else { throw SystemError(code: errno, operation: "read", subject: path) }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != "..", !body(name) { return }
        }
    }
}
