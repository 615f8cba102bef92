import ArgumentParser
import EventLoop
import PrivateDaemon

/// `trestle plugin dev`
struct DevelopPluginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dev",
        abstract: "Builds a plugin and runs it in a daemon of its own; each save rebuilds and reloads it.",
        discussion: """
            Builds with swift build where the folder has a Package.swift, with make where it has a Makefile, and not \
            at all where it has only a manifest NAME.plugin.toml. Packages that depend on Trestle alone are built in a \
            scratch folder that they share, in ~/.cache/trestle/swift, so that TaskKit is built once; with a .build of \
            its own a package is built there. Shows each call with its progress and its end, and \
            what the plugin logs, of any level. What the plugin writes into its own folder reloads it twice in a row \
            at most. A build that fails, or a plugin that does not start, leaves the one that runs. The socket that \
            it prints is for this user alone. Interrupted, it ends the daemon and removes its files.

            EXAMPLES
              trestle plugin dev
              trestle plugin dev scanner --listen /tmp/scanner.sock
              trestle plugin dev . --plugin out/libScannerPlugin.so
            """)

    @Argument(help: "The plugin's folder.", completion: .directory)
    var directory = "."

    @Option(help: ArgumentHelp("The library or manifest, if the folder contains several.", valueName: "path"))
    var plugin: String?

    @Option(help: ArgumentHelp("The socket of its daemon; default: a temporary one.", valueName: "path"))
    var listen: String?

    func run() async throws {
        let project = try PluginProject(directory, plugin: plugin)
        let program = try TrestlePaths.find(package: nil).program
        let socket = listen
        do {
            try await Interruption.cancelling(puttingAway: true) {
                try await Self.develop(project, at: socket, program)
            }
        } catch let code as ExitCode {
            throw code
        } catch {
            throw Failure.report(error)
        }
    }

    @LoopActor
    private static func develop(_ project: PluginProject, at socket: String?, _ program: String) async throws {
        let folder = try PrivateFolder(for: "dev")
        defer { folder.remove() }
        try await DevelopmentRun(project, in: folder, at: socket, program: program).run()
    }
}
