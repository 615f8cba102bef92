import Glibc

/// Reports files that are written, moved and removed in a folder and its subfolders, through inotify.
///
/// The loop keeps an open watcher alive: the owner must call `close()`. Links to folders are not followed.
@LoopActor
public final class FolderWatcher {
    /// A change.
    public enum Change: Sendable, Equatable {
        /// The file or folder of this path has changed; for a new folder, its contents have, too. If the kernel lost
        /// events, the path is that of the watched folder.
        case changed(String)
        /// A new folder cannot be watched, so changes in it are not reported.
        case unwatched(String, SystemError)
    }

    private let folder: String
    private let skips: (String) -> Bool
    private let isDeep: Bool
    private var report: (@LoopActor (Change) -> Void)?
    private var descriptor: Int32
    private var watcher: DescriptorWatcher?
    /// The folders by their inotify watch descriptor.
    private var folders: [Int32: String] = [:]

    /// The reported events: a file that was written and closed, and entries that are created, removed or renamed.
    private static let mask =
        UInt32(IN_CLOSE_WRITE) | UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM) | UInt32(IN_MOVED_TO)
        | UInt32(bitPattern: Int32(IN_ONLYDIR)) | UInt32(bitPattern: Int32(IN_DONT_FOLLOW))

    /// Watches a folder.
    ///
    /// - Parameters:
    ///   - isDeep: Whether its subfolders are watched, too.
    ///   - skips: Whether files and folders with this name are ignored, at any depth.
    ///   - report: Called for each change, in order; one save may cause several.
    /// - Throws: `ENOENT`, `EACCES`, `ENOTDIR`; `ENOSPC` if the user watches as many folders as the system allows.
    public init(
        _ folder: String, isDeep: Bool = true, skipping skips: @escaping (String) -> Bool = { _ in false },
        _ report: @escaping @LoopActor (Change) -> Void
    ) throws(SystemError) {
        self.folder = folder
        self.skips = skips
        self.isDeep = isDeep
        self.report = report
        descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { throw SystemError(code: errno, operation: "watch folders", subject: folder) }
        do {
            try add(folder)
            let watcher = try DescriptorWatcher(descriptor) { [weak self] in self?.read() }
            watcher.watch(readable: true, writable: false)
            self.watcher = watcher
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    /// Stops watching. Further calls do nothing.
    public func close() {
        guard report != nil else { return }
        report = nil
        watcher?.close()
        watcher = nil
        Glibc.close(descriptor)
    }

    // MARK: Folders

    private func add(_ path: String) throws(SystemError) {
        let number = inotify_add_watch(descriptor, path, Self.mask)
        guard number >= 0 else {
            let advice =
                errno == ENOSPC ? "this user watches as many folders as fs.inotify.max_user_watches allows" : nil
            throw SystemError(code: errno, operation: "watch", subject: path, advice: advice)
        }
        folders[number] = path
        for name in isDeep ? Self.subfolders(of: path) : [] where !skips(name) {
            // A folder that was removed in the meantime need not be watched.
            do throws(SystemError) { try add("\(path)/\(name)") } catch  where error.code == ENOENT {}
        }
    }

    private static func subfolders(of path: String) -> [String] {
        let names = (try? FolderContents.names(in: path)) ?? []
        return names.filter { name in
            var status = stat()
            return lstat("\(path)/\(name)", &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        }
    }

    // MARK: Events

    private static let maximumReads = 4

    private func read() {
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: MemoryLayout<inotify_event>.alignment) { buffer in
            // Limited, so that files that are created faster than they are reported do not occupy the loop: the rest is
            // read in the next turn.
            for _ in 0..<Self.maximumReads where report != nil {
                let count = uninterrupted { Glibc.read(descriptor, buffer.baseAddress, buffer.count) }
                guard count > 0 else { return }
                var rest = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                // The kernel returns only whole events.
                while rest.count >= MemoryLayout<inotify_event>.size {
                    let event = rest.loadUnaligned(as: inotify_event.self)
                    let size = MemoryLayout<inotify_event>.size + Int(event.len)
                    let name = rest[MemoryLayout<inotify_event>.size..<size].prefix { $0 != 0 }
                    take(event, String(decoding: name, as: UTF8.self))
                    rest = UnsafeRawBufferPointer(rebasing: rest[size...])
                }
            }
        }
    }

    private func take(_ event: inotify_event, _ name: String) {
        if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { report?(.changed(folder)) }
        if event.mask & UInt32(IN_IGNORED) != 0 { folders[event.wd] = nil }
        guard let parent = folders[event.wd], !name.isEmpty, !skips(name) else { return }
        let path = "\(parent)/\(name)"
        if isDeep, event.mask & UInt32(bitPattern: Int32(IN_ISDIR)) != 0,
            event.mask & (UInt32(IN_CREATE) | UInt32(IN_MOVED_TO)) != 0
        {
            // Before the report: a later file in the folder either exists when the report is handled, or is reported
            // itself.
            do throws(SystemError) { try add(path) } catch  where error.code == ENOENT {} catch {
                report?(.unwatched(path, error))
            }
        }
        report?(.changed(path))
    }
}
