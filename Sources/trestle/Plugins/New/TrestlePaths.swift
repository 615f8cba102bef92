import Glibc
import PrivateDaemon

/// The paths of Trestle's files for building a new plugin: in the installation of the running program, or in the
/// checkout in which it was built.
struct TrestlePaths: Sendable, Equatable {
    /// The text after `.package(` in a Swift manifest, without the traits.
    var package: String
    /// The name of the package in references to its products.
    var packageName: String
    /// The folder of `trestle_plugin.h`.
    var header: String
    /// The folder that contains the Python package `trestle_bridge`.
    var python: String
    /// The command for this program in a shell.
    var program: String

    /// Returns the paths for the running program.
    ///
    /// - Parameter package: The path or URL of Trestle's Swift package; `nil` for the package of the program.
    /// - Throws: ``UsageFailure`` if something is missing.
    static func find(package: String?) throws -> TrestlePaths {
        guard let folder = TrestlePrograms.ownFolder else { throw UsageFailure("/proc is not mounted") }
        return try find(programFolder: folder, package: package)
    }

    static func find(programFolder: String, package: String?) throws -> TrestlePaths {
        let parts = programFolder.split(separator: "/")
        // .build/TRIPLE/CONFIGURATION/trestle, or .build/NAME/TRIPLE/CONFIGURATION/trestle with its own scratch path.
        let checkout = [parts.dropLast(3), parts.dropLast(4)].map(path)
            .first { exists("\($0)/Package.swift") && exists("\($0)/Sources/TaskKit") }
        let prefix = path(parts.dropLast())
        let share = "\(prefix)/share/trestle"
        let standard = checkout ?? "\(share)/swift/trestle"
        if let package, !package.contains("://"), !exists("\(package)/Package.swift") {
            throw UsageFailure(
                "\(package) contains no Package.swift: name the folder of a checkout of Trestle with --trestle, "
                    + "or its URL")
        }
        let chosen = package ?? standard
        return TrestlePaths(
            package: declaration(of: chosen), packageName: name(of: chosen),
            header: checkout.map { "\($0)/Sources/C/CTaskPlugin/include" } ?? "\(prefix)/include",
            python: checkout.map { "\($0)/Clients/Python" } ?? "\(share)/python",
            program: isOnPath("\(programFolder)/trestle") ? "trestle" : "\(programFolder)/trestle")
    }

    /// Throws an error if the files for a language are missing.
    func check(for language: PluginLanguage) throws {
        let needed: (file: String, what: String)? =
            switch language {
            case .swift, .sh: nil
            case .c: ("\(header)/trestle_plugin.h", "the header of the plugin interface")
            case .python: ("\(python)/trestle_bridge/__init__.py", "the Python package trestle_bridge")
            }
        guard let needed, !Self.exists(needed.file) else { return }
        throw UsageFailure(
            "\(needed.what) is not at \(needed.file): this trestle is not part of a complete installation; "
                + "install the whole package"
        )
    }

    private static func declaration(of package: String) -> String {
        if package.contains("://") { return "url: \(quoted(package)), branch: \"main\"" }
        return "name: \"trestle\", path: \(quoted(absolute(package)))"
    }

    /// SwiftPM identifies a remote package by the last part of its URL.
    private static func name(of package: String) -> String {
        guard package.contains("://") else { return "trestle" }
        let last = package.split(separator: "/").last.map(String.init) ?? package
        return last.hasSuffix(".git") ? String(last.dropLast(4)) : last
    }

    private static func absolute(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    /// Returns a Swift string literal.
    private static func quoted(_ text: String) -> String {
        "\"" + text.reduce(into: "") { $0 += $1 == "\"" || $1 == "\\" ? "\\\($1)" : "\($1)" } + "\""
    }

    private static func path(_ parts: ArraySlice<Substring>) -> String { "/" + parts.joined(separator: "/") }
    private static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    private static func isOnPath(_ program: String) -> Bool {
        let candidates = TrestlePrograms.searchPath.map { "\($0)/trestle" }
        return candidates.first { access($0, X_OK) == 0 }.map(absolute) == absolute(program)
    }
}
