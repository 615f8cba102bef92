import ArgumentParser
import EventLoop
import PrivateDaemon

/// `trestle plugin dev`
struct DevelopPluginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dev",
        abstract: "Builds a plugin and runs it in a daemon of its own; each save rebuilds and reloads it.",
        discussion: """
            Builds with swift build if the folder contains a Package.swift, and with make if it contains a Makefile. A \
            folder with only a manifest NAME.plugin.toml is not built. Packages that depend on Trestle alone are built \
            in a shared scratch folder, ~/.cache/trestle/swift, so that TaskKit is built once; a package with its own \
            .build is built there. Shows each call with its progress and its end, and all log messages of the plugin. \
            Files that the plugin writes into its own folder reload it at most twice in a row. If a build fails, or \
            the plugin does not start, the previous version keeps running. Only this user can use the socket that is \
            printed. When it is interrupted, the command ends the daemon and removes its files.

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
