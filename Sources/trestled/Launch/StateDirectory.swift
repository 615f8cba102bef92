import EventLoop
import FileTrust
import Glibc

/// The state directory and its files, accessible only to the daemon's user.
enum StateDirectory {
    /// The name of the file that a running daemon keeps locked.
    static let lock = "lock"

    /// Creates the directory with mode 0700 if it does not exist. Removes the permissions of other users on it and on
    /// its files, regardless of how they were set. Blocks.
    ///
    /// - Throws: ``SystemError`` with an instruction in each of these cases: the directory or one of its files is a
    ///   link; one of them belongs to another user; other users can replace the directory.
    static func secure(_ path: String) throws(SystemError) {
        // A trailing slash would follow a link.
        let path = "/" + path.split(separator: "/").joined(separator: "/")
        try Folder.make(path, mode: 0o700)
        let directory = directoryOfServiceManager(path) ?? path
        do throws(FileTrust.Doubt) { try FileTrust.checkWay(to: directory) } catch {
            throw refusal(directory, error.description)
        }
        let status = try status(of: directory)
        try check(status, of: directory)
        let names = try FolderContents.names(in: directory)
        if status.st_mode & 0o077 != 0 { try close(directory, names) }
        for name in names { try secure(file: "\(directory)/\(name)") }
    }

    // MARK: The directory

    private static func check(_ status: stat, of path: String) throws(SystemError) {
        switch status.st_mode & S_IFMT {
        case S_IFDIR: break
        case S_IFLNK:
            throw refusal(path, "it is a symbolic link; name the directory that it leads to with --state-dir")
        default: throw refusal(path, "it is not a directory; move it away, or choose another path with --state-dir")
        }
        guard status.st_uid == geteuid() else { throw foreign(path, status) }
    }

    /// Returns the real directory. With DynamicUser=, systemd creates /var/lib/trestle as /var/lib/private/trestle with
    /// a link of root to it.
    private static func directoryOfServiceManager(_ path: String) -> String? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK, status.st_uid == 0,
            let target = realpath(path, nil)
        else { return nil }
        defer { free(target) }
        let (folder, name) = (path.parentFolder, path.split(separator: "/").last ?? "")
        let directory = "\(folder)/private/\(name)"
        return String(cString: target) == directory ? directory : nil
    }

    /// Removes the permissions of other users, unless the directory also serves other purposes: this would make /var,
    /// for example, unusable for all other users.
    private static func close(_ path: String, _ names: [String]) throws(SystemError) {
        var status = stat()
        let hasLock =
            lstat("\(path)/\(lock)", &status) == 0 && status.st_mode & S_IFMT == S_IFREG
            && status.st_uid == geteuid()
        guard names.isEmpty || hasLock else {
            throw refusal(
                path,
                "other users may read it, and it contains files that are not the daemon's; give the daemon a "
                    + "directory of its own with --state-dir, or restrict access: chmod 0700 \(path)")
        }
        try change(path, to: 0o700)
    }

    // MARK: Its contents

    private static func secure(file path: String) throws(SystemError) {
        let status: stat
        do throws(SystemError) { status = try self.status(of: path) } catch {
            // A temporary file of another daemon. The lock is taken next and reports that daemon.
            if error.code == ENOENT { return }
            throw error
        }
        guard status.st_mode & S_IFMT != S_IFLNK else {
            throw refusal(path, "it is a symbolic link; replace it with the file itself, or remove it")
        }
        guard status.st_uid == geteuid() else { throw foreign(path, status) }
        if status.st_mode & 0o077 != 0 { try change(path, to: status.st_mode & 0o700) }
    }

    private static func status(of path: String) throws(SystemError) -> stat {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            throw SystemError(code: errno, operation: "read the status of", subject: path)
        }
        return status
    }

    private static func change(_ path: String, to mode: mode_t) throws(SystemError) {
        guard chmod(path, mode) == 0 else {
            throw SystemError(code: errno, operation: "set the permissions of", subject: path)
        }
    }

    private static func foreign(_ path: String, _ status: stat) -> SystemError {
        refusal(
            path,
            "it belongs to uid \(status.st_uid), and has to belong to the daemon's user, uid \(geteuid()): chown "
                + "\(geteuid()) \(path)")
    }

    private static func refusal(_ path: String, _ why: String) -> SystemError {
        SystemError(code: EPERM, operation: "keep state in", subject: path, advice: why)
    }
}
