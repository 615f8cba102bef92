import Glibc

/// A directory that is removed with the last reference to this object.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/trestle-login-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure(code: errno) }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit {
        for name in names { unlink(file(name)) }
        rmdir(path)
    }

    struct Failure: Error {
        var code: Int32
    }

    /// The names of the files in the directory.
    var names: [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    func file(_ name: String) -> String { path + "/" + name }

    /// Returns the permission bits of a file in the directory; `nil` if `stat` fails.
    func mode(_ name: String) -> mode_t? {
        var status = stat()
        return stat(file(name), &status) == 0 ? status.st_mode & 0o777 : nil
    }
}
