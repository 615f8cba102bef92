import Glibc

/// The folder of the bodies that are too long for a row: `ab/<name>`, or `new/<name>` while they arrive. Any thread.
/// The methods wait for the disk.
struct BodyFolder: Sendable {
    let path: String

    /// Creates the folder, which only its owner can read, and removes files that did not become entries.
    func prepare() throws(BodyFile.Failure) {
        try make(path)
        try make("\(path)/new")
        for name in Self.names(in: "\(path)/new") { unlink("\(path)/new/\(name)") }
    }

    private func make(_ path: String) throws(BodyFile.Failure) {
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw BodyFile.Failure(code: errno) }
    }

    /// Creates a new file. It is removed if no entry adopts it.
    func create() throws(BodyFile.Failure) -> BodyFile {
        var generator = SystemRandomNumberGenerator()
        let digits = Array("0123456789abcdef")
        let name = String((0..<32).map { _ in digits[Int.random(in: 0..<16, using: &generator)] })
        let file = "\(path)/new/\(name)"
        let descriptor = Glibc.open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw BodyFile.Failure(code: errno) }
        return BodyFile(name: name, descriptor: descriptor, unfinished: file)
    }

    /// Moves a file to its final place. After that an entry may name it.
    func adopt(_ file: BodyFile) throws(BodyFile.Failure) {
        try make("\(path)/\(file.name.prefix(2))")
        try file.adopt(at: place(of: file.name))
    }

    /// Opens the file of an entry; returns `nil` if it cannot be opened.
    func open(_ name: String, toWrite: Bool = false) -> BodyFile? {
        let flags = (toWrite ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW
        let descriptor = Glibc.open(place(of: name), flags)
        return descriptor < 0 ? nil : BodyFile(name: name, descriptor: descriptor, unfinished: nil)
    }

    func remove(_ name: String) { unlink(place(of: name)) }

    /// Returns all files in their final place, with their lengths.
    func all() -> [String: Int64] {
        var files: [String: Int64] = [:]
        for folder in Self.names(in: path) where folder.utf8.count == 2 {
            for name in Self.names(in: "\(path)/\(folder)") {
                var status = stat()
                guard lstat("\(path)/\(folder)/\(name)", &status) == 0 else { continue }
                files[name] = Int64(status.st_size)
            }
        }
        return files
    }

    private func place(of name: String) -> String { "\(path)/\(name.prefix(2))/\(name)" }

    private static func names(in path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
