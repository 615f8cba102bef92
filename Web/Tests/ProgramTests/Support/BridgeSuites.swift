import Glibc
import TestSupport

/// Code of other bridges, which is not part of the project.
enum BridgeSuites {
    private static let folders: [String] =
        getenv("TRESTLE_SUITES").map { [String(cString: $0)] }
        ?? ["\(PackageFolder.main)/../shared/suites", "\(PackageFolder.main)/.build/suites"]

    /// The text of a file; empty where its suite is missing.
    static func text(_ path: String) -> String {
        folders.map { "\($0)/\(path)" }.first { exists($0) }.map { contents(of: $0) } ?? ""
    }

    /// Whether a suite is there.
    static func has(_ suite: String) -> Bool { folders.contains { exists("\($0)/\(suite)") } }

    /// Why tests of a suite are skipped.
    static func missing(_ suite: String) -> String {
        "needs the public suite \(suite): scripts/fetch-suites fetches it"
    }
}
