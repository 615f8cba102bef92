import Glibc

/// An installation in its own folder: programs, one plugin of the daemon, the Python package.
public final class InstalledFolder {
    /// The root of the installation, like `/usr/local`.
    public var path: String { folder.path }
    private let folder: TemporaryFolder

    /// - Parameters:
    ///   - build: The build folder.
    ///   - package: The root folder of the package.
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

    /// Links or copies a file. Hard links need no space, and have their own paths.
    private static func copy(_ source: String, to target: String) throws {
        guard link(source, target) != 0 else { return }
        let copied = try run("/bin/cp", ["-p", source, target])
        guard copied.end == .exited(0) else { throw TestFailure(copied.errors) }
    }

    /// The directory in which plugins are installed.
    public var localPlugins: String { folder.file("lib/trestle/local-plugins") }

    /// Returns the path of a file in the installation.
    public func file(_ name: String) -> String { folder.file(name) }
}
