import EventLoop
import FileTrust
import Glibc

/// Folders that the daemon creates and checks.
enum Folder {
    /// Creates a folder and its missing parents. The parents are accessible to other users, as far as the file mode
    /// mask of the program that started the daemon allows.
    static func make(_ path: String, mode: mode_t) throws(SystemError) {
        guard mkdir(path, mode) != 0 else { return setPermissions(path, mode) }
        switch errno {
        case EEXIST: return
        case ENOENT where path.parentFolder != path:
            try make(path.parentFolder, mode: 0o755)
            guard mkdir(path, mode) == 0 || errno == EEXIST else { fallthrough }
            setPermissions(path, mode)
        default: throw SystemError(code: errno, operation: "create the directory", subject: path)
        }
    }

    /// Restores the permissions that the daemon's own file mode mask removed; see ``FileModes``.
    private static func setPermissions(_ path: String, _ mode: mode_t) {
        if mode & 0o077 != 0 { chmod(path, mode & ~FileModes.inheritedMask) }
    }

    /// Checks the folder of a socket and its parents. A user that can write one of them could replace the socket and
    /// impersonate the daemon.
    ///
    /// - Throws: ``SystemError`` if any user except root and this one can write them.
    static func check(around socket: String) throws(SystemError) {
        do throws(FileTrust.Doubt) { try FileTrust.checkWay(to: socket) } catch {
            throw SystemError(
                code: error.code, operation: "listen at", subject: socket,
                advice: "another socket could replace it: \(error); or choose another path with --socket")
        }
    }
}

/// The permissions of new files.
enum FileModes {
    /// The mask of the program that started the daemon. It applies only to the folders around the socket.
    static let inheritedMask: mode_t = umask(0o077)

    /// From now on, new files of this process and its children are accessible only to their owner, unless code sets
    /// other permissions. Must be called first, while there is only one thread.
    static func restrict() { _ = inheritedMask }
}

extension String {
    /// The parent folder of a path; "." for a bare name.
    var parentFolder: String {
        guard let slash = lastIndex(of: "/") else { return "." }
        return slash == startIndex ? "/" : String(self[..<slash])
    }

    /// Returns an absolute path for display, without empty and `.` parts. Keeps `..`, because after a symbolic link it
    /// leads to another folder than the text suggests.
    ///
    /// - Parameter directory: The directory to which a relative path refers.
    func wholePath(from directory: String) -> String {
        let path = hasPrefix("/") ? self : "\(directory)/\(self)"
        return "/" + path.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
    }

    /// The path without links; `nil` if it does not exist. Blocks.
    var resolvedPath: String? {
        guard let resolved = realpath(self, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// The path of a folder with a slash at the end, so that a name can be appended.
    var withTrailingSlash: String { hasSuffix("/") ? self : self + "/" }
}
