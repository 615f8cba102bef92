import FoundationEssentials
import Glibc
import PrivateDaemon

/// What was built: the plugin's library, and Trestle's programs.
struct BuiltPlugin {
    let library: String
    let programs: TrestlePrograms

    /// The variable that names the folder of Trestle's programs.
    static let programsVariable = "TRESTLE_BIN"
    /// The variable that names the socket of a daemon that runs already and has the plugin.
    static let socketVariable = "TRESTLE_TEST_SOCKET"

    /// Looks for both. Blocks.
    ///
    /// - Parameter library: its path, or the name of its product, such as `GreeterPlugin`; nil: the one of the plugin's
    ///   name.
    /// - Throws: ``MissingBuildProduct`` with a sentence that says what is missing and where it was looked for.
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

    /// The one that is named, or else: where this test was built, as Trestle's own are; the builds of the checkout
    /// whose TaskKitTesting this is; where programs are installed.
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

    /// The test's program lies where the library was built.
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

    /// `qr-scan` and `QrScan` are the same.
    private static func plain(_ name: some StringProtocol) -> String {
        name.lowercased().filter { $0 != "-" && $0 != "_" }
    }
}

/// Why a plugin cannot be tested in an environment: something that it needs was not built.
struct MissingBuildProduct: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
