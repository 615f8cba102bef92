import Glibc

/// A temporary directory for one test. `deinit` removes it with its content.
public final class TemporaryFolder {
    /// The absolute path.
    public let path: String

    /// Creates an empty directory under /tmp.
    public init() throws {
        // The path is short, because the path of a socket may have at most 107 bytes.
        var template = Array("/tmp/trestle-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else {
            throw TestFailure("no directory can be made: \(String(cString: strerror(errno)))")
        }
        path = String(cString: made)
        // In some tests, clients of other users need access.
        chmod(path, 0o755)
    }

    deinit { _ = try? SpawnedProcess("/bin/rm", ["-rf", path]).wait() }

    /// Returns the path of a file in the directory, which need not exist.
    public func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes or replaces a file. Returns its path.
    @discardableResult
    public func write(_ text: String, to name: String) throws -> String {
        let path = file(name)
        let bytes = Array(text.utf8)
        try SpawnGate.pass {
            let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
            defer { close(descriptor) }
            guard descriptor >= 0, Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
                throw TestFailure("\(path) cannot be written: \(String(cString: strerror(errno)))")
            }
        }
        return path
    }
}

/// Returns the text of a file; empty if it does not exist.
public func contents(of path: String) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while case let count = read(descriptor, &chunk, chunk.count), count > 0 { text += chunk[..<count] }
    return String(decoding: text, as: UTF8.self)
}

/// Whether a file exists at the path; a symbolic link counts as a file.
public func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
}
