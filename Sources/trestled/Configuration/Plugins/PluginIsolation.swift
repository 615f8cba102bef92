// The choice of plugins that run in their own processes.
import BridgeJSON
import Glibc
import PluginInterface
import TaskHosts

/// The process that loads a plugin's library.
enum PluginIsolation: String, CaseIterable, Sendable {
    /// The daemon itself.
    case none
    /// A separate process.
    case process

    /// The key in a plugin's section that sets it. The daemon does not pass it to the plugin.
    static let key = "isolation"
}

extension Configuration {
    /// Returns the isolation in a plugin's section; `nil` if it is missing or invalid (``isolationProblem(of:)``).
    func isolation(of plugin: String) -> PluginIsolation? {
        section(of: plugin)?.json[PluginIsolation.key]?.stringValue.flatMap(PluginIsolation.init)
    }

    /// Returns the isolation of a library whose section does not specify one. The daemon itself loads a library that is
    /// shipped with it and does not export the symbol that requests a process. Any other library gets its own process.
    /// Blocks.
    func usualIsolation(ofLibrary path: String) -> PluginIsolation {
        isShipped(path) && !ExportedSymbol.isExported(ExportedSymbol.wantsProcess, by: path) ? .none : .process
    }

    /// Returns the problem with the isolation in a plugin's section; `nil` if it is missing or valid.
    func isolationProblem(of plugin: String) -> ConfigurationProblem? {
        guard let section = section(of: plugin), let written = section.json[PluginIsolation.key],
            isolation(of: plugin) == nil
        else { return nil }
        let known = PluginIsolation.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: " or ")
        return section.problem(
            BridgeError(JSONMismatch(path: "$.\(PluginIsolation.key)", expected: known, got: written.text)))
    }

    /// Returns whether a file is in a directory that is shipped with the daemon.
    func isShipped(_ path: String) -> Bool {
        isShippedDirectory(path.parentFolder)
            && !pluginSearch.localInForce.contains { LocalPluginDirectory(path: $0).holds(path) }
    }

    /// Returns whether a directory is shipped with the daemon.
    func isShippedDirectory(_ path: String) -> Bool {
        let resolved = path.resolvedPath
        return PluginSearch.beside(executable: Self.executable).named.contains { $0.resolvedPath == resolved }
    }

    /// The directory of the plugins that are shipped with the daemon; `nil` if there are none. Blocks.
    var shippedDirectory: String? {
        let search = PluginSearch.beside(executable: Self.executable)
        return search.directories.first { (try? $0.libraries())?.isEmpty == false }.map {
            $0.path.resolvedPath ?? $0.path
        }
    }

    private static var executable: String { "/proc/self/exe".resolvedPath ?? CommandLine.arguments[0] }
}

/// The program that loads a library in a separate process.
enum PluginHostProgram {
    private static let name = "trestle-plugin-host"

    /// Returns the command for a library.
    ///
    /// - Throws: `plugin.unavailable` if the program does not exist or if other users can change the library.
    static func command(forLibrary path: String) throws(BridgeError) -> PluginProcessCommand {
        // Checks the original path, including links, because the process receives only the resolved path.
        do throws(PluginLoadError) { try PluginFile.check(path) } catch {
            throw BridgeError(.pluginUnavailable, error.description)
        }
        guard let executable = realpath("/proc/self/exe", nil) else {
            throw BridgeError(.pluginUnavailable, "the daemon's own file cannot be found")
        }
        defer { free(executable) }
        let folder = String(cString: executable).parentFolder
        let paths = ["\(folder)/\(name)", "\(folder)/../lib/trestle/\(name)"]
        guard let program = paths.first(where: { access($0, X_OK) == 0 }) else {
            throw BridgeError(
                .pluginUnavailable,
                "it must run in a process of its own, and \(name) was not found at \(paths.joined(separator: " or "))")
        }
        guard let library = realpath(path, nil) else {
            throw BridgeError(.pluginUnavailable, "it cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { free(library) }
        return PluginProcessCommand(
            path: path, name: nil, arguments: [program, String(cString: library)], directory: path.parentFolder,
            limits: PluginProcessCommand.Limits(descriptors: nil))
    }
}
