import Glibc

/// What is in a folder.
public enum FolderContents {
    /// The names of all entries but `.` and `..`, in no order. Blocks while the disk is read.
    public static func names(in path: String) throws(SystemError) -> [String] {
        var names: [String] = []
        try forEach(in: path) { name in
            names.append(name)
            return true
        }
        return names
    }

    /// Removes a file, or a folder with all that is in it. What cannot be removed stays. Blocks.
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

    /// Hands `body` each of these names until it returns false. Blocks while the disk is read.
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
