import ArgumentParser
import EventLoop
import Glibc
import PrivateDaemon

/// A plugin on the command line: a library, a manifest, or a project folder, which is built first.
struct PluginArgument: ParsableArguments {
    @Argument(
        help: "The library, the manifest NAME.plugin.toml, or the folder of a project, which is built.",
        completion: .file(extensions: ["so", "toml"]))
    var path: String

    @Option(help: ArgumentHelp("The library or manifest, if the folder contains several.", valueName: "path"))
    var plugin: String?

    /// Returns the path of the library or manifest. Builds a project, with output on standard error.
    ///
    /// - Parameters:
    ///   - purpose: The failed operation for an error, such as "cannot be checked".
    ///   - isRelease: Whether to build a project for production.
    /// - Throws: ``FileFailure``, ``UsageFailure``, ``ProjectFailure``, the exit code if it is a folder that cannot be
    ///   built.
    @LoopActor
    func file(_ purpose: String, isRelease: Bool = false) async throws -> String {
        guard access(path, R_OK) == 0 else { throw FileFailure(path, purpose) }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            guard path.hasSuffix(".so") || path.hasSuffix(PrivateFolder.manifestSuffix) else {
                throw UsageFailure(
                    "\(path) is not a plugin: name a library (.so), a manifest (NAME.plugin.toml) or a project's folder"
                )
            }
            return path
        }
        let project = try PluginProject(path, plugin: plugin, isRelease: isRelease)
        if let end = try await ProjectBuild.run(project, showingOn: .error), !end.isSuccess {
            throw ProjectFailure("\(path) \(purpose): the build failed (\(end))")
        }
        return try project.plugin()
    }

    /// As ``file(_:isRelease:)``, for commands that begin with it: a signal cancels it, and all errors are reported in
    /// the form.
    func preparedFile(_ purpose: String, isRelease: Bool = false, _ form: OutputForm) async throws -> String {
        do {
            return try await Interruption.cancelling { [self] in try await file(purpose, isRelease: isRelease) }
        } catch let code as ExitCode {
            throw code
        } catch {
            throw Failure.report(error, asJSON: form.json)
        }
    }
}
