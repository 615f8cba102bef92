import Glibc
import TaskKit

/// The files that a fetch may read and write: those below the folders of the setting `download_dirs`. Only local
/// sessions of the user that this process runs as may use them. This adds no rights: that user can access the files
/// anyway.
struct FileAccess: Sendable {
    /// The limits of the system.
    static let maximumPathBytes = 4095
    static let maximumNameBytes = 255

    /// The folders of `download_dirs`.
    let folders: [String]
    /// The user that this process runs as.
    let owner: UInt32

    /// Returns the place of a file that a caller names.
    ///
    /// - Parameters:
    ///   - path: The file's path.
    ///   - option: The path of the option that contains the file's path.
    /// - Throws: `permission.denied`, `options.invalid`. The disk is not accessed.
    func place(_ path: String, option: String, for caller: Caller) throws(BridgeError) -> FilePlace {
        guard caller.origin == "local" else { throw .noFiles("a session that represents an origin may not use files") }
        guard owner != 0 else { throw .noFiles("the daemon runs as root, and does not use files of callers") }
        guard caller.uid == owner else {
            throw .noFiles("the daemon runs as uid \(owner), and uses files for this user alone")
        }
        guard !folders.isEmpty else { throw .noFiles("files are not allowed: the setting download_dirs is empty") }
        guard let names = Self.names(of: path), path.utf8.count <= Self.maximumPathBytes else {
            throw .invalidOption(
                option, expected: "the absolute path of a file, without . and .. in it", got: Self.shown(path))
        }
        // The longest one, so that as few folders as possible are opened.
        let folder = folders.filter { Self.contains($0, path) }.max { $0.utf8.count < $1.utf8.count }
        guard let folder else {
            throw .invalidOption(option, expected: "a path below a folder of download_dirs", got: Self.shown(path))
        }
        let below = names.dropFirst(Self.names(of: folder)?.count ?? 0)
        guard let name = below.last else {
            throw .invalidOption(option, expected: "a path below a folder of download_dirs", got: Self.shown(path))
        }
        return FilePlace(path: path, top: folder, folders: Array(below.dropLast()), name: name)
    }

    /// Returns whether a text can be a folder of the setting.
    static func isFolder(_ path: String) -> Bool {
        path.utf8.count <= maximumPathBytes && names(of: path) != nil
    }

    /// Returns the names in an absolute path; `nil` if the path is not absolute or has an invalid name, such as `..`.
    private static func names(of path: String) -> [String]? {
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else { return nil }
        let names = path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        let isPlain = names.allSatisfy { name in
            name != "" && name != "." && name != ".." && name.utf8.count <= maximumNameBytes
        }
        return isPlain ? names : nil
    }

    private static func contains(_ folder: String, _ path: String) -> Bool {
        // Compares bytes: two names that are canonically equivalent can be two folders.
        path.utf8.starts(with: Array(folder.utf8) + [UInt8(ascii: "/")])
    }

    private static func shown(_ path: String) -> String { JSON.string(String(path.prefix(200))).text }
}

/// The place of a file: a folder of the setting, and the path from there.
struct FilePlace: Sendable {
    /// For messages and results.
    let path: String
    let top: String
    let folders: [String]
    let name: String

    /// Opens the folder that contains the file. No symbolic link below ``top`` is followed. Waits for the disk.
    ///
    /// - Throws: `http.file`, `storage.failed`.
    func openFolder() throws(BridgeError) -> FolderHandle {
        // The operator's own path may contain symbolic links.
        var folder = try FolderHandle(Glibc.open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC), top)
        for name in folders {
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
            folder = try FolderHandle(openat(folder.descriptor, name, flags), "\(folder.path)/\(name)")
        }
        return folder
    }
}

/// An open folder. It stays the same folder if its path changes.
final class FolderHandle: Sendable {
    let descriptor: Int32
    /// For messages.
    let path: String

    fileprivate init(_ descriptor: Int32, _ path: String) throws(BridgeError) {
        guard descriptor >= 0 else { throw .file(errno, path, "the folder cannot be opened") }
        (self.descriptor, self.path) = (descriptor, path)
    }

    deinit { close(descriptor) }

    /// Returns the mode of the entry with this name in the folder; `nil` if there is none.
    func mode(of name: String) -> mode_t? {
        var status = stat()
        return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status.st_mode : nil
    }
}

/// The reason why a file cannot be used: the member `reason` of `http.file`.
enum FileReason: String, Sendable {
    /// The file already exists.
    case exists
    /// The file or its folder does not exist.
    case notFound = "not_found"
    /// The file is not a regular file, or a part of its path is not a folder. Symbolic links are neither.
    case kind
    /// The user may not read or write the file.
    case denied
}

extension BridgeError {
    static func noFiles(_ message: String) -> BridgeError { BridgeError(.permissionDenied, message) }

    /// Returns `http.file`.
    static func file(_ reason: FileReason, _ path: String, _ message: String) -> BridgeError {
        BridgeError(
            .httpFile, "\(path): \(message)", data: ["reason": .string(reason.rawValue), "path": .string(path)])
    }

    /// Returns the error for an `errno` code.
    ///
    /// - Parameter what: The operation that failed.
    static func file(_ code: Int32, _ path: String, _ what: String) -> BridgeError {
        let text = "\(what): \(String(cString: strerror(code)))"
        switch code {
        case ENOSPC, EDQUOT: return BridgeError("storage.full", "\(path): \(text)", isTransient: true)
        case EEXIST: return file(.exists, path, text)
        case ENOENT: return file(.notFound, path, text)
        case ELOOP, ENOTDIR, EISDIR, ENXIO: return file(.kind, path, "\(text); links are not followed")
        case EACCES, EPERM, EROFS, ETXTBSY: return file(.denied, path, text)
        default: return BridgeError(.storageFailed, "\(path): \(text)")
        }
    }
}
