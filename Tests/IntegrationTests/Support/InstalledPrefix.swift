import TestSupport

/// An installation in its own folder, and the paths of a daemon that runs from it.
final class InstalledPrefix {
    let home: DaemonHome
    private let folder: InstalledFolder

    init() throws {
        folder = try InstalledFolder(build: Paths.build, package: Paths.package)
        home = try DaemonHome()
        home.program = folder.file("bin/trestled")
    }

    /// The directory in which plugins are installed.
    var localPlugins: String { folder.localPlugins }

    func file(_ name: String) -> String { folder.file(name) }

    /// Runs the installed command line against the daemon.
    func trestle(_ arguments: [String]) throws -> ProgramRun {
        try run(folder.file("bin/trestle"), ["--socket", home.socketPath] + arguments)
    }

    /// Creates a plugin that greets. Returns the path of its folder.
    func newPlugin(_ language: String) throws -> String {
        let path = folder.file("greet")
        let made = try trestle(["plugin", "new", "greet", "--language", language, "--directory", path])
        guard made.end == .exited(0) else { throw TestFailure(made.errors) }
        return path
    }
}
