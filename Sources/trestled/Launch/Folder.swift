import EventLoop
import FileTrust
import Glibc

/// Folders, as the daemon needs them.
enum Folder {
    /// Makes a folder and those around it, where they are missing. Those around it are open to others, as far as the
    /// program that started the daemon lets them be.
    static func make(_ path: String, mode: mode_t) throws(SystemError) {
        guard mkdir(path, mode) != 0 else { return open(path, mode) }
        switch errno {
        case EEXIST: return
        case ENOENT where path.parentFolder != path:
            try make(path.parentFolder, mode: 0o755)
            guard mkdir(path, mode) == 0 || errno == EEXIST else { fallthrough }
            open(path, mode)
        default: throw SystemError(code: errno, operation: "make the directory", subject: path)
        }
    }

    /// What the daemon's own file mode mask has taken away; see ``FileModes``.
    private static func open(_ path: String, _ mode: mode_t) {
        if mode & 0o077 != 0 { chmod(path, mode & ~FileModes.inheritedMask) }
    }

    /// Who may write the folder of a socket, or one around it, may put a socket of their own in its place, and be taken
    /// for the daemon.
    ///
    /// - Throws: ``SystemError`` where any user but root and this one may.
    static func check(around socket: String) throws(SystemError) {
        do throws(FileTrust.Doubt) { try FileTrust.checkWay(to: socket) } catch {
            throw SystemError(
                code: error.code, operation: "listen at", subject: socket,
                advice: "another socket could be put in its place: \(error); or choose another path with --socket")
        }
    }
}

/// With which permissions files are made.
enum FileModes {
    /// The mask of the program that started the daemon. It holds for the folders around the socket alone.
    static let inheritedMask: mode_t = umask(0o077)

    /// From here on whatever is made in this process, or in those that it starts, is its owner's alone, where no code
    /// says otherwise. First of all, as long as there is but one thread.
    static func restrict() { _ = inheritedMask }
}

extension String {
    /// The folder that a path stands in; "." for a bare name.
    var parentFolder: String {
        guard let slash = lastIndex(of: "/") else { return "." }
        return slash == startIndex ? "/" : String(self[..<slash])
    }

    /// A path as it is shown: from the root on, without parts that say nothing. `..` stays: behind a symbolic link it
    /// leads elsewhere than the text says.
    ///
    /// - Parameter directory: what a relative one begins from.
    func wholePath(from directory: String) -> String {
        let path = hasPrefix("/") ? self : "\(directory)/\(self)"
        return "/" + path.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
    }

    /// The path without links; nil: nothing is there. Blocks.
    var resolvedPath: String? {
        guard let resolved = realpath(self, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// The path of a folder, ready for the name of what is in it.
    var withTrailingSlash: String { hasSuffix("/") ? self : self + "/" }
}
