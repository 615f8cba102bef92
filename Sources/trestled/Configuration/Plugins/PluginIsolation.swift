// Which plugins run in processes of their own.
import BridgeJSON
import Glibc
import PluginInterface
import TaskHosts

/// Where a plugin's library is loaded.
enum PluginIsolation: String, CaseIterable, Sendable {
    /// By the daemon itself.
    case none
    /// By a process of its own.
    case process

    /// The key in a plugin's section that says so; the plugin is not handed it.
    static let key = "isolation"
}

extension Configuration {
    /// What a plugin's section says; nil: nothing, or what is wrong (``isolationProblem(of:)``).
    func isolation(of plugin: String) -> PluginIsolation? {
        section(of: plugin)?.json[PluginIsolation.key]?.stringValue.flatMap(PluginIsolation.init)
    }

    /// Where a library is loaded whose section does not say it: by the daemon if it came with it and exports nothing
    /// that asks for a process, else by a process of its own. Blocks.
    func usualIsolation(ofLibrary path: String) -> PluginIsolation {
        isShipped(path) && !ExportedSymbol.isExported(ExportedSymbol.wantsProcess, by: path) ? .none : .process
    }

    /// What is wrong with what it says.
    func isolationProblem(of plugin: String) -> ConfigurationProblem? {
        guard let section = section(of: plugin), let written = section.json[PluginIsolation.key],
            isolation(of: plugin) == nil
        else { return nil }
        let known = PluginIsolation.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: " or ")
        return section.problem(
            BridgeError(JSONMismatch(path: "$.\(PluginIsolation.key)", expected: known, got: written.text)))
    }

    /// Whether a file lies in a directory that came with the daemon.
    func isShipped(_ path: String) -> Bool {
        isShippedDirectory(path.parentFolder)
            && !pluginSearch.localInForce.contains { LocalPluginDirectory(path: $0).holds(path) }
    }

    /// Whether a directory came with the daemon.
    func isShippedDirectory(_ path: String) -> Bool {
        let resolved = path.resolvedPath
        return PluginSearch.beside(executable: Self.executable).named.contains { $0.resolvedPath == resolved }
    }

    /// The directory that holds the plugins that came with the daemon; nil: there are none. Blocks.
    var shippedDirectory: String? {
        let search = PluginSearch.beside(executable: Self.executable)
        return search.directories.first { (try? $0.libraries())?.isEmpty == false }.map {
            $0.path.resolvedPath ?? $0.path
        }
    }

    private static var executable: String { "/proc/self/exe".resolvedPath ?? CommandLine.arguments[0] }
}

/// The program that loads a library in a process of its own.
enum PluginHostProgram {
    private static let name = "trestle-plugin-host"

    /// What to start for a library.
    ///
    /// - Throws: `plugin.unavailable` where the program is not there, or others may change the library.
    static func command(forLibrary path: String) throws(BridgeError) -> PluginProcessCommand {
        // The link by which it was found, too: the process sees only where that leads.
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
                "it is to run in a process of its own, and \(name) is neither \(paths.joined(separator: " nor "))")
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
