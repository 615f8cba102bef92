import FoundationEssentials
import Glibc
import PrivateDaemon

/// The build products: the plugin's library, and Trestle's programs.
struct BuiltPlugin {
    let library: String
    let programs: TrestlePrograms

    /// The environment variable that names the folder of Trestle's programs.
    static let programsVariable = "TRESTLE_BIN"
    /// The environment variable that names the socket of a running daemon that has the plugin.
    static let socketVariable = "TRESTLE_TEST_SOCKET"

    /// Finds the library and the programs. Blocks.
    ///
    /// - Parameter library: The library's path, or the name of its product, such as `GreeterPlugin`; `nil` for the
    ///   product with the plugin's name.
    /// - Throws: ``MissingBuildProduct`` with a sentence that states what is missing and where it was expected.
    init(_ name: String, library: String?) throws(MissingBuildProduct) {
        self.library = try Self.library(of: name, named: library)
        programs = try Self.findPrograms()
    }

    static func findPrograms() throws(MissingBuildProduct) -> TrestlePrograms {
        do throws(MissingPrograms) { return try TrestlePrograms(in: folders) } catch {
            throw MissingBuildProduct(
                "\(error); build Trestle there with `swift build`, or name the folder of its programs with "
                    + "\(programsVariable)"
            )
        }
    }

    /// The folder that the variable names. Without the variable: the folder where this test was built, as for Trestle's
    /// own tests; the builds of the checkout that contains this TaskKitTesting; the folders of installed programs.
    private static var folders: [String] {
        if let named = variable(programsVariable) { return [named] }
        let checkout = #filePath.split(separator: "/").dropLast(4).reduce(into: "") { $0 += "/\($1)" }
        return [TrestlePrograms.ownFolder].compactMap { $0 }
            + ["\(checkout)/.build/debug", "\(checkout)/.build/release"] + TrestlePrograms.searchPath
    }

    static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    // MARK: The library

    /// Finds the library, which is built into the same folder as the test's program.
    private static func library(of name: String, named: String?) throws(MissingBuildProduct) -> String {
        let folder = TrestlePrograms.ownFolder ?? "."
        if let named {
            let path = named.contains("/") ? named : "\(folder)/lib\(named).so"
            guard access(path, R_OK) == 0 else {
                throw MissingBuildProduct("there is no library \(path): `swift build` builds it")
            }
            return path
        }
        let found = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
            .filter { $0.hasPrefix("lib") && $0.hasSuffix("Plugin.so") }
        let plain = plain(name)
        let matching = found.filter { self.plain($0.dropFirst(3).dropLast("Plugin.so".count)) == plain }
        if let match = matching.first ?? (found.count == 1 ? found.first : nil) { return "\(folder)/\(match)" }
        throw MissingBuildProduct(
            found.isEmpty
                ? "no library lib…Plugin.so is in \(folder): give the package a dynamic library as its product"
                : "none of the libraries in \(folder) has the name of the plugin \(name) "
                    + "(\(found.sorted().joined(separator: ", "))): "
                    + "name one with withPlugin(library:)")
    }

    /// Returns the name without differences of case and separators: `qr-scan` and `QrScan` are equal.
    private static func plain(_ name: some StringProtocol) -> String {
        name.lowercased().filter { $0 != "-" && $0 != "_" }
    }
}

/// The reason why a plugin cannot be tested in an environment: a required build product is missing.
struct MissingBuildProduct: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
