// PrivateDaemon: a daemon of one's own, for tools and tests. The programs are found, a folder is made with a socket, a
// state and plugins in it, trestled is started there and ended again, and nothing is left.
import Glibc

/// Where Trestle's programs are: those that a user started, or built along with a test.
public struct TrestlePrograms: Sendable, Hashable {
    /// The path of `trestled`.
    public let daemon: String
    /// The path of `trestle-plugin-host`; nil: it is not there, and libraries cannot be loaded by processes of their
    /// own.
    public let pluginHost: String?

    /// The programs of the first of these folders that has a daemon. Blocks.
    ///
    /// - Parameter folders: such as `/usr/bin`, or a build folder; the host of plugins may lie beside the daemon, or in
    ///   `../lib/trestle`, as it is installed.
    /// - Throws: ``MissingPrograms`` where none has.
    public init(in folders: [String]) throws(MissingPrograms) {
        guard let folder = folders.first(where: { access("\($0)/trestled", X_OK) == 0 }) else {
            throw MissingPrograms(folders: folders)
        }
        daemon = "\(folder)/trestled"
        pluginHost = ["\(folder)/trestle-plugin-host", "\(folder)/../lib/trestle/trestle-plugin-host"]
            .first { access($0, X_OK) == 0 }
    }

    /// The folder of the program that runs; nil: /proc is not there.
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

/// No daemon was found.
public struct MissingPrograms: Error, Sendable, CustomStringConvertible {
    /// Where it was looked for.
    public let folders: [String]

    /// One sentence.
    public var description: String {
        "trestled is not to be found: it is in none of \(folders.joined(separator: ", "))"
    }
}
