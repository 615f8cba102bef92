import EventLoop
import Glibc

/// Runs the command that builds a project.
@LoopActor
enum ProjectBuild {
    /// Builds a project. Cancelling the Swift task ends the command.
    ///
    /// - Parameters:
    ///   - screen: Receives the command line and the command's output.
    /// - Returns: The exit status of the command; `nil` if nothing has to be built.
    /// - Throws: ``ProjectFailure`` if the command does not exist; `CancellationError`.
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
            throw ProjectFailure("\(command[0]) was not found: it builds the plugin, and must be on the PATH")
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
