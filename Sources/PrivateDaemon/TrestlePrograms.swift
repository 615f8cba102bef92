// PrivateDaemon: a private daemon for tools and tests. It finds the programs, creates a folder for the socket, state
// and plugins, starts trestled there, stops it and removes everything.
import Glibc

/// The paths of Trestle's programs: the installed ones or the ones built with a test.
public struct TrestlePrograms: Sendable, Hashable {
    /// The path of `trestled`.
    public let daemon: String
    /// The path of `trestle-plugin-host`; `nil` if it does not exist. Without it, libraries cannot run in their own
    /// processes.
    public let pluginHost: String?

    /// Finds the programs in the first of these folders that contains a daemon. Blocks.
    ///
    /// - Parameter folders: Folders such as `/usr/bin` or a build folder. The plugin host is expected beside the daemon
    ///   or in `../lib/trestle`, its installed location.
    /// - Throws: ``MissingPrograms`` if none contains a daemon.
    public init(in folders: [String]) throws(MissingPrograms) {
        guard let folder = folders.first(where: { access("\($0)/trestled", X_OK) == 0 }) else {
            throw MissingPrograms(folders: folders)
        }
        daemon = "\(folder)/trestled"
        pluginHost = ["\(folder)/trestle-plugin-host", "\(folder)/../lib/trestle/trestle-plugin-host"]
            .first { access($0, X_OK) == 0 }
    }

    /// The folder of the running program; `nil` if /proc is not available.
    public static var ownFolder: String? {
        guard let program = realpath("/proc/self/exe", nil) else { return nil }
        defer { free(program) }
        return String(cString: program).split(separator: "/").dropLast().reduce(into: "") { $0 += "/\($1)" }
    }

    /// The folders of PATH.
    public static var searchPath: [String] {
        (getenv("PATH").map { String(cString: $0) } ?? "").split(separator: ":").map(String.init)
    }
}

/// An error: no daemon was found.
public struct MissingPrograms: Error, Sendable, CustomStringConvertible {
    /// The folders that were searched.
    public let folders: [String]

    /// The error message, one sentence.
    public var description: String {
        "trestled was not found: it is in none of \(folders.joined(separator: ", "))"
    }
}
