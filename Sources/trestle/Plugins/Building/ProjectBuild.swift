import EventLoop
import Glibc

/// Runs the command that builds a project.
@LoopActor
enum ProjectBuild {
    /// Builds a project. The command ends with the Swift task.
    ///
    /// - Parameters:
    ///   - screen: where the command, and what it prints, is shown.
    /// - Returns: how the command ended; nil: nothing has to be built.
    /// - Throws: ``ProjectFailure`` where the command is not there; `CancellationError`.
    static func run(_ project: PluginProject, showingOn screen: Screen) async throws -> ExitStatus? {
        guard let command = project.command else { return nil }
        screen.write(screen.bold("Building: \(command.joined(separator: " "))") + "\n")
        var options = ChildProcess.Options(file: command[0], arguments: Array(command.dropFirst()))
        options.workingDirectory = project.folder
        options.standardInput = .null
        options.standardOutput = .descriptor(screen.descriptor)
        if let owner = BuildUser(ofFolder: project.folder) {
            options.user = owner.identity
            options.environment = owner.environment
        }
        let process: ChildProcess
        do { process = try ChildProcess.spawn(options) } catch {
            guard error.code == ENOENT else { throw error }
            throw ProjectFailure("\(command[0]) is not to be found: it builds the plugin, and must be on the PATH")
        }
        let status = await withTaskCancellationHandler {
            await process.exitStatus()
        } onCancel: {
            EventLoop.post { process.kill(SIGTERM) }
        }
        try Task.checkCancellation()
        return status
    }
}

/// Whom root builds as: the owner of the project, so that a project's build has no more rights than its author, and
/// leaves no files of root's there.
private struct BuildUser {
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
}

/// The environment of this process.
private enum ProcessVariables {
    static var all: [String: String] {
        var variables: [String: String] = [:]
        // `environ` ends with a null pointer, and nobody changes the environment of this program.
        var next = environ
        while let entry = next.pointee {
            let parts = String(cString: entry).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
            next += 1
        }
        return variables
    }
}
