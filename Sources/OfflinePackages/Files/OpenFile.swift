import Glibc

/// An open file or folder, with its descriptor. Closed when the last reference is released.
final class OpenFile: Sendable {
    let descriptor: Int32
    /// The path, for messages.
    let path: String

    /// Opens a path of the file system.
    ///
    /// - Throws: `storage`.
    convenience init(_ path: String, _ flags: Int32 = O_RDONLY) throws(PackageFault) {
        try self.init(Glibc.open(path, flags | O_CLOEXEC), path)
    }

    /// Opens an entry of a folder. Does not follow a link.
    ///
    /// - Parameters:
    ///   - name: The entry's name, without slashes.
    ///   - folder: The folder.
    ///   - flags: The flags of `open`.
    ///   - mode: The permissions of a new file.
    /// - Throws: `storage`, `path`, `full`.
    convenience init(
        _ name: String, in folder: OpenFile, _ flags: Int32 = O_RDONLY, mode: mode_t = 0o600
    ) throws(PackageFault) {
        let descriptor = openat(folder.descriptor, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode)
        try self.init(descriptor, "\(folder.path)/\(name)")
    }

    private init(_ descriptor: Int32, _ path: String) throws(PackageFault) {
        guard descriptor >= 0 else {
            if errno == ELOOP { throw PackageFault(.path, "\(path) is a link, which no package has") }
            throw .system("cannot be opened", path)
        }
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }

    /// Opens a folder in this one.
    ///
    /// - Parameters:
    ///   - name: The folder's name.
    ///   - makes: Whether it is created if it does not exist.
    /// - Throws: `storage`, `path`, `full`.
    func folder(_ name: String, makes: Bool = false) throws(PackageFault) -> OpenFile {
        if makes, mkdirat(descriptor, name, 0o700) != 0, errno != EEXIST {
            throw .system("cannot be created", "\(path)/\(name)")
        }
        return try OpenFile(name, in: self, O_RDONLY | O_DIRECTORY)
    }

    /// Returns the result of `fstat`.
    ///
    /// - Throws: `storage`.
    func status() throws(PackageFault) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system("cannot be read", path) }
        return status
    }

    /// Reads the next bytes.
    ///
    /// - Returns: The bytes; empty at the end.
    /// - Throws: `storage`.
    func read(upTo count: Int) throws(PackageFault) -> [UInt8] {
        while true {
            var status = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
                status = Glibc.read(descriptor, buffer.baseAddress, count)
                filled = max(0, status)
            }
            if status >= 0 { return bytes }
            guard errno == EINTR else { throw .system("cannot be read", path) }
        }
    }

    /// Reads all of a short file.
    ///
    /// - Throws: `storage`, `limit`.
    func contents(upTo limit: Int) throws(PackageFault) -> [UInt8] {
        var contents: [UInt8] = []
        while case let bytes = try read(upTo: min(limit + 1, 64 << 10)), !bytes.isEmpty {
            contents += bytes
            guard contents.count <= limit else { throw PackageFault(.limit, "\(path) has more than \(limit) bytes") }
        }
        return contents
    }

    /// Writes all of these bytes.
    ///
    /// - Throws: `full`, `storage`.
    func write(_ bytes: UnsafeRawBufferPointer) throws(PackageFault) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system("cannot be written", path) }
            rest = rest.dropFirst(count)
        }
    }

    /// Flushes it to disk.
    ///
    /// - Throws: `full`, `storage`.
    func flush() throws(PackageFault) {
        guard fsync(descriptor) == 0 else { throw .system("cannot be flushed to disk", path) }
    }

    /// Returns the names of a folder's entries, in the order of their bytes.
    ///
    /// - Throws: `storage`, `limit`, `path`.
    func names(upTo limit: Int) throws(PackageFault) -> [String] {
        // `fdopendir` takes ownership of the descriptor, so it gets one of its own.
        let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0, let stream = fdopendir(copy) else { throw .system("cannot be read", path) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            guard let name = String(validating: bytes, as: UTF8.self) else {
                throw PackageFault(.path, "\(path) has an entry whose name is not valid UTF-8")
            }
            guard name != ".", name != ".." else { continue }
            guard names.count < limit else { throw PackageFault(.limit, "\(path) has more than \(limit) entries") }
            names.append(name)
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}

extension PackageFault {
    /// Creates a fault of the system from `errno`.
    static func system(_ what: String, _ path: String) -> PackageFault {
        let code = errno
        let reason: Reason = code == ENOSPC || code == EDQUOT ? .full : .storage
        return PackageFault(reason, "\(path) \(what): \(String(cString: strerror(code)))")
    }
}

extension OpenFile {
    /// Replaces or creates a file of this folder atomically and flushes it to disk.
    ///
    /// - Throws: `full`, `storage`.
    func replace(_ name: String, _ bytes: [UInt8], mode: mode_t = 0o600) throws(PackageFault) {
        let temporary = ".\(name).new"
        unlinkat(descriptor, temporary, 0)
        let file = try OpenFile(temporary, in: self, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
        let written = bytes.withUnsafeBytes { bytes in
            Result { () throws(PackageFault) in
                try file.write(bytes)
                try file.flush()
            }
        }
        do throws(PackageFault) {
            try written.get()
            guard renameat(descriptor, temporary, descriptor, name) == 0 else {
                throw .system("cannot be created", "\(path)/\(name)")
            }
        } catch {
            unlinkat(descriptor, temporary, 0)
            throw error
        }
        try flush()
    }
}
