import Glibc
import Testing

/// A directory of its own for one test, removed with everything in it when this goes.
final class TemporaryFolder {
    let path: String

    init() throws {
        // Short, because a socket's path may have no more than 107 bytes.
        var template = Array("/tmp/trestle-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else {
            throw Failure("no directory can be made: \(String(cString: strerror(errno)))")
        }
        path = String(cString: made)
        // Other users' clients pass through it in some tests.
        chmod(path, 0o755)
    }

    deinit { _ = try? SpawnedProcess("/bin/rm", ["-rf", path]).wait() }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    @discardableResult
    func write(_ text: String, to name: String) throws -> String {
        let path = file(name)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard descriptor >= 0, Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw Failure("\(path) cannot be written: \(String(cString: strerror(errno)))")
        }
        return path
    }
}

/// The text of a file; empty where there is none.
func contents(of path: String) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while case let count = read(descriptor, &chunk, chunk.count), count > 0 { text += chunk[..<count] }
    return String(decoding: text, as: UTF8.self)
}

func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
}

/// Where things are that the tests need.
enum Place {
    /// The build folder: the tests' own program stands in it, and beside it the daemon, the commands, the plugins.
    static let build: String = {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &path, path.count)
        let program = path.prefix(max(0, length)).map { UInt8(bitPattern: $0) }
        return String(decoding: program.prefix(program.lastIndex(of: UInt8(ascii: "/")) ?? 0), as: UTF8.self)
    }()

    /// The package's sources.
    static let package: String = {
        let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        return parts.dropLast(4).joined(separator: "/")
    }()

    static func program(_ name: String) -> String { "\(build)/\(name)" }
}
