import CThread
import EventLoop
import Glibc

/// Whom root builds as: the owner of the project, so that a project's build has no more rights than its author, and
/// leaves no files of root's there.
struct BuildUser {
    let identity: ChildProcess.User
    /// This process's, with that user's home.
    let environment: [String: String]

    /// - Returns: nil where this process builds as it is: it is not root's, or the folder is root's.
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

    /// Where that user's caches are; nil: there is no home.
    var caches: String? { environment["HOME"].flatMap { $0.hasPrefix("/") ? "\($0)/.cache" : nil } }

    /// Does something with that user's rights to files instead of root's, so that root follows no link of that user's.
    ///
    /// - Parameter body: ends on the thread on which it begins.
    /// - Returns: nil where the process cannot have these rights.
    func usingFiles<T>(_ body: () -> T?) -> T? {
        var result: T?
        withoutActuallyEscaping(body) { body in
            var work = Work { result = body() }
            withUnsafeMutablePointer(to: &work) { work in
                // The argument is the pointer.
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
        // `environ` ends with a null pointer, and nothing changes the environment of this program.
        var next = environ
        while let entry = next.pointee {
            let parts = String(cString: entry).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
            next += 1
        }
        return variables
    }
}
