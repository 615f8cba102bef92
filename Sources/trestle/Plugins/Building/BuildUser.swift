import CThread
import EventLoop
import Glibc

/// The user for builds that root starts: the owner of the project. The build has no more rights than its author and
/// creates no files of root.
struct BuildUser {
    let identity: ChildProcess.User
    /// The environment of this process, with that user's home directory.
    let environment: [String: String]

    /// - Returns: `nil` if the build needs no other user: this process is not root's, or the folder is root's.
    init?(ofFolder folder: String) {
        var status = stat()
        guard geteuid() == 0, stat(folder, &status) == 0, status.st_uid != 0 else { return nil }
        identity = ChildProcess.User(id: status.st_uid, group: getpwuid(status.st_uid)?.pointee.pw_gid ?? status.st_gid)
        var variables = ProcessVariables.all
        if let entry = getpwuid(status.st_uid)?.pointee {
            variables["HOME"] = String(cString: entry.pw_dir)
            for name in ["USER", "LOGNAME"] { variables[name] = String(cString: entry.pw_name) }
        }
        environment = variables
    }

    /// The folder of that user's caches; `nil` if there is no home directory.
    var caches: String? { environment["HOME"].flatMap { $0.hasPrefix("/") ? "\($0)/.cache" : nil } }

    /// Runs `body` with that user's file access rights instead of root's, so that root does not follow links of that
    /// user.
    ///
    /// - Parameter body: Must end on the thread on which it begins.
    /// - Returns: `nil` if the process cannot get these rights.
    func usingFiles<T>(_ body: () -> T?) -> T? {
        var result: T?
        withoutActuallyEscaping(body) { body in
            var work = Work { result = body() }
            withUnsafeMutablePointer(to: &work) { work in
                // The argument is a pointer to `work`.
                let perform: @convention(c) (UnsafeMutableRawPointer?) -> Void = {
                    $0?.assumingMemoryBound(to: Work.self).pointee.body()
                }
                _ = cthread_use_files_as(identity.id, identity.group, perform, work)
            }
        }
        return result
    }

    private struct Work { let body: () -> Void }
}

/// The environment of this process.
private enum ProcessVariables {
    static var all: [String: String] {
        var variables: [String: String] = [:]
        // `environ` ends with a null pointer, and this program does not change the environment.
        var next = environ
        while let entry = next.pointee {
            let parts = String(cString: entry).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
            next += 1
        }
        return variables
    }
}
