import Glibc

/// Reports files that are written, moved and removed in a folder and in those below it, by way of inotify.
///
/// An open watcher is kept alive by the loop: end it with `close()`. Links to folders are not followed.
@LoopActor
public final class FolderWatcher {
    /// A change.
    public enum Change: Sendable, Equatable {
        /// Something of that path is another than before; of a folder that is new, its content too. Where so much
        /// happened that the kernel kept no account of it, the path is that of the watched folder.
        case changed(String)
        /// A folder that is new cannot be watched, so changes in it are not reported.
        case unwatched(String, SystemError)
    }

    private let folder: String
    private let skips: (String) -> Bool
    private let isDeep: Bool
    private var report: (@LoopActor (Change) -> Void)?
    private var descriptor: Int32
    private var watcher: DescriptorWatcher?
    /// The folder of each of inotify's numbers.
    private var folders: [Int32: String] = [:]

    /// What counts: a file that was written and closed, and whatever comes, goes or gets another name.
    private static let mask =
        UInt32(IN_CLOSE_WRITE) | UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM) | UInt32(IN_MOVED_TO)
        | UInt32(bitPattern: Int32(IN_ONLYDIR)) | UInt32(bitPattern: Int32(IN_DONT_FOLLOW))

    /// Watches a folder and all below it.
    ///
    /// - Parameters:
    ///   - isDeep: whether the folders below it are watched too.
    ///   - skips: whether a file or folder of that name, wherever it is, is of no interest.
    ///   - notify: called for each change, in order; one save may be several.
    /// - Throws: `ENOENT`, `EACCES`, `ENOTDIR`; `ENOSPC` where the user watches as many folders as the system allows.
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
            // One that went meanwhile need not be watched.
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
            // Files that are made faster than they are reported do not keep the loop: the rest comes in the next turn.
            for _ in 0..<Self.maximumReads where report != nil {
                let count = uninterrupted { Glibc.read(descriptor, buffer.baseAddress, buffer.count) }
                guard count > 0 else { return }
                var rest = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                // The kernel hands over whole events only.
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
            // Before it is reported: what comes into it is either there when the report is handled, or reported itself.
            do throws(SystemError) { try add(path) } catch  where error.code == ENOENT {} catch {
                report?(.unwatched(path, error))
            }
        }
        report?(.changed(path))
    }
}
