import Glibc

/// A directory of its own for one test, removed with everything in it when this goes.
public final class TemporaryFolder {
    /// Its absolute path.
    public let path: String

    /// Makes an empty one under /tmp.
    public init() throws {
        // Short, because a socket's path may have no more than 107 bytes.
        var template = Array("/tmp/trestle-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else {
            throw TestFailure("no directory can be made: \(String(cString: strerror(errno)))")
        }
        path = String(cString: made)
        // Other users' clients pass through it in some tests.
        chmod(path, 0o755)
    }

    deinit { _ = try? SpawnedProcess("/bin/rm", ["-rf", path]).wait() }

    /// The path of what has this name in it, whether it exists or not.
    public func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file, in the place of an older one; returns its path.
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

/// The text of a file; empty where there is none.
public func contents(of path: String) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while case let count = read(descriptor, &chunk, chunk.count), count > 0 { text += chunk[..<count] }
    return String(decoding: text, as: UTF8.self)
}

/// Whether something is at the path; a symbolic link is something too.
public func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
}
