import Glibc

/// An installation in a folder of its own: programs, one plugin that came with the daemon, the Python package.
public final class InstalledFolder {
    /// Its root, as `/usr/local` is one.
    public var path: String { folder.path }
    private let folder: TemporaryFolder

    /// - Parameters:
    ///   - build: the folder with what was built.
    ///   - package: the package's sources.
    public init(build: String, package: String) throws {
        folder = try TemporaryFolder()
        for name in ["bin", "lib", "lib/trestle", "lib/trestle/plugins", "share", "share/trestle"] {
            guard mkdir(folder.file(name), 0o755) == 0 else { throw TestFailure("\(name) cannot be made") }
        }
        let files = [
            "trestled": "bin/trestled", "trestle": "bin/trestle",
            "trestle-plugin-host": "lib/trestle/trestle-plugin-host",
            "libEchoPlugin.so": "lib/trestle/plugins/libEchoPlugin.so",
        ]
        for (name, target) in files { try Self.copy("\(build)/\(name)", to: folder.file(target)) }
        symlink("\(package)/Clients/Python", folder.file("share/trestle/python"))
        symlink("\(package)/Sources/C/CTaskPlugin/include", folder.file("include"))
    }

    /// Hard links need no room, and their paths are their own.
    private static func copy(_ source: String, to target: String) throws {
        guard link(source, target) != 0 else { return }
        let copied = try run("/bin/cp", ["-p", source, target])
        guard copied.end == .exited(0) else { throw TestFailure(copied.errors) }
    }

    /// Where plugins are installed.
    public var localPlugins: String { folder.file("lib/trestle/local-plugins") }

    /// The path of what has this name in it.
    public func file(_ name: String) -> String { folder.file(name) }
}
