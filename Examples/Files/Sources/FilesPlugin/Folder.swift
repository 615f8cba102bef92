import Glibc
import Synchronization
import TaskKit

/// The folder whose files the tasks read and write. Its functions may block, so it has a thread of its own.
actor Folder {
    private let thread = BlockingExecutor(name: "files")
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    private nonisolated let section = Mutex(Section())
    private(set) var path = ""
    private var descriptor: CInt = -1
    /// The number of files created so far, for the temporary names.
    private var newFiles = 0

    /// Sets the section. Called before `open`.
    nonisolated func take(_ new: Section) { section.withLock { $0 = new } }

    /// Opens the folder, and creates it if it is the plugin's own.
    ///
    /// - Throws: `files.failed`.
    func open(in stateDirectory: String) throws {
        let chosen = section.withLock { $0.folder }
        path = chosen ?? stateDirectory + "/files"
        if chosen == nil, mkdir(path, 0o700) != 0, errno != EEXIST {
            throw Failure.system(errno, "making", path)
        }
        descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure.system(errno, "opening", path) }
        removeUnfinished()
    }

    // MARK: Reading

    /// Returns the files in the folder, without hidden ones.
    func files() throws -> [File] {
        try names().filter { !$0.hasPrefix(".") }.compactMap { name in
            var status = stat()
            // The file may have been removed meanwhile.
            guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFREG
            else { return nil }
            return File(name: name, bytes: Int(status.st_size), modified: Int(status.st_mtim.tv_sec))
        }
    }

    private func names() throws -> [String] {
        guard let stream = opendir(path) else { throw Failure.system(errno, "listing", path) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names.sorted()
    }

    /// Opens a file for reading. The caller closes the descriptor.
    func open(_ name: FileName) throws -> CInt {
        // Opening a pipe would wait for its other end; a link may lead out of the folder.
        let opened = openat(descriptor, name.text, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard opened >= 0 else { throw Failure.system(errno, "reading", name.text) }
        var status = stat()
        guard fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(opened)
            throw Failure.notAFile(name.text)
        }
        return opened
    }

    // MARK: Writing

    /// Creates a file under a temporary name that no task shows.
    func create(_ name: FileName) throws -> NewFile {
        newFiles += 1
        let temporary = ".\(newFiles)\(Self.unfinished)"
        let opened = openat(descriptor, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw Failure.system(errno, "writing", name.text) }
        return NewFile(
            file: OpenFile(opened, name), temporary: temporary,
            maximumBytes: section.withLock { $0.fileBytes } ?? Section.standardFileBytes)
    }

    func write(_ bytes: [UInt8], to new: NewFile) throws { try new.file.write(bytes) }

    /// Renames the finished file to its name, and so replaces the file of that name.
    func finish(_ new: NewFile) throws {
        try new.file.sync()
        // Closed before the rename, so that subscribers get one event for it.
        new.file.close()
        guard renameat(descriptor, new.temporary, descriptor, new.file.name.text) == 0, fsync(descriptor) == 0 else {
            throw Failure.system(errno, "writing", new.file.name.text)
        }
    }

    /// Removes a file that was not finished.
    func abandon(_ new: NewFile) { unlinkat(descriptor, new.temporary, 0) }

    func remove(_ name: FileName) throws {
        guard unlinkat(descriptor, name.text, 0) == 0 else { throw Failure.system(errno, "removing", name.text) }
    }

    private static let unfinished = ".unfinished"

    /// Removes the unfinished files of a daemon that was killed while it wrote.
    private func removeUnfinished() {
        for name in (try? names()) ?? [] where name.hasPrefix(".") && name.hasSuffix(Self.unfinished) {
            unlinkat(descriptor, name, 0)
        }
    }
}

/// A file of the folder.
struct File: Codable, Sendable {
    var name: String
    var bytes: Int
    /// Seconds since 1970.
    var modified: Int
}

/// A file that is being written.
struct NewFile: Sendable {
    let file: OpenFile
    let temporary: String
    let maximumBytes: Int
}
