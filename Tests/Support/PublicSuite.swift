import Glibc

/// A published suite of tests. It is not part of the repository: if it is missing, its tests are skipped.
public struct PublicSuite: Sendable {
    /// The JSON Schema Test Suite.
    public static let jsonSchema = PublicSuite("json-schema")
    /// The texts of the JSONTestSuite.
    public static let jsonParsing = PublicSuite("json-parsing")
    /// The schema of OpenRPC documents.
    public static let openRPC = PublicSuite("openrpc")
    /// The tests of http-state, the IETF working group for cookies.
    public static let httpState = PublicSuite("http-state")
    /// The list of public suffixes and its tests.
    public static let publicSuffixes = PublicSuite("psl")
    /// The tests of HTTP caches.
    public static let cacheTests = PublicSuite("cache-tests")

    /// The JavaScript of WebViewJavascriptBridge, with its example pages.
    public static let webViewJavascriptBridge = PublicSuite("wvjb")
    /// The JavaScript of Capacitor.
    public static let capacitor = PublicSuite("capacitor")
    /// The JavaScript of Cordova for all platforms.
    public static let cordova = PublicSuite("cordova")
    /// The JavaScript of Cordova for iOS.
    public static let cordovaIOS = PublicSuite("cordova-ios")

    /// The folder of the suite; `nil` if it is missing.
    private let folder: String?
    /// Whether `TRESTLE_SUITES_REQUIRED`, a list separated by spaces, contains this suite.
    private let isRequired: Bool
    /// Whether the tests of the suite run. If it is missing and required, they fail, because it is empty.
    public var isThere: Bool { folder != nil || isRequired }
    /// The version that was fetched: a commit, or a release of a package that contains the suite; empty if it is
    /// missing.
    public var version: String {
        String(decoding: content(of: "COMMIT").prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
    /// The reason for skipping the tests without the suite.
    public let missing: String

    /// A file of a suite.
    public struct File {
        /// The name within the folder.
        public let name: String
        /// The content.
        public let bytes: [UInt8]
    }

    /// Finds the suite. Prints a line if it is missing, because `swift test --quiet` does not report skipped tests.
    private init(_ name: String) {
        let places = Self.places.map { "\($0)/\(name)" }
        folder = places.first { access("\($0)/COMMIT", R_OK) == 0 }
        missing = "no \(places.joined(separator: " or ")): scripts/fetch-suites fetches it"
        let required = getenv("TRESTLE_SUITES_REQUIRED").map { String(cString: $0) } ?? ""
        isRequired = required.split(separator: " ").contains { $0 == name }
        if folder == nil, !isRequired { print("skipped: the tests of the public suite \(name): \(missing)") }
    }

    /// The folders that may contain suites.
    private static var places: [String] {
        if let folder = getenv("TRESTLE_SUITES") { return [String(cString: folder)] }
        let checkout = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        return [
            "\(checkout.dropLast().joined(separator: "/"))/shared/suites",
            "\(checkout.joined(separator: "/"))/.build/suites",
        ]
    }

    /// Returns the path of a file of the suite; empty if the suite is missing.
    public func path(of file: String) -> String { folder.map { "\($0)/\(file)" } ?? "" }

    /// Returns the content of a file of the suite; empty if it is missing.
    public func content(of file: String) -> [UInt8] { folder.map { Self.content(of: "\($0)/\(file)") } ?? [] }

    /// Returns a file of the suite as text; empty if it is missing.
    public func text(of file: String) -> String { String(decoding: content(of: file), as: UTF8.self) }

    /// Returns the files of a folder with a suffix, `.json` by default, sorted by name.
    public func files(in subfolder: String, endingIn suffix: String = ".json") -> [File] {
        guard let folder, let stream = opendir("\(folder)/\(subfolder)") else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(suffix) { names.append(name) }
        }
        return names.sorted().map { File(name: $0, bytes: Self.content(of: "\(folder)/\(subfolder)/\($0)")) }
    }

    private static func content(of path: String) -> [UInt8] {
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = getc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
        return bytes
    }
}
