// Helpers of the configuration tests.
import Glibc
import TOMLDocument
import Testing

@testable import trestled

/// Returns an environment that no test machine has.
func environment(
    _ variables: [String: String] = [:], userID: UInt32 = 1000
) -> ConfigurationEnvironment {
    ConfigurationEnvironment(
        variables: variables, userID: userID, homeDirectory: "/home/ada", workingDirectory: "/base")
}

/// Returns the defaults overlaid by a file with this text.
func configuration(
    _ text: String, overrides: ConfigurationOverrides = ConfigurationOverrides()
) throws -> Configuration {
    let defaults = Configuration(environment: environment(), executable: "/opt/trestle/bin/trestled")
    let document = try TOMLDocument(parsing: text, file: "t.toml")
    return try defaults.overlaid(by: document, overrides, workingDirectory: "/base").checked()
}

/// Returns the problems for which a file with this text is refused; empty if it is accepted.
func refusals(_ text: String, overrides: ConfigurationOverrides = ConfigurationOverrides()) throws -> [String] {
    do {
        _ = try configuration(text, overrides: overrides)
        return []
    } catch let errors as ConfigurationErrors {
        return errors.problems.map(\.description)
    }
}

/// Runs `body` with a new directory that contains these files and the folders in their paths.
func withFiles(_ files: [String: String], _ body: (_ root: String) throws -> Void) throws {
    var template = Array("/tmp/trestled-configuration-XXXXXX".utf8CString)
    try #require(mkdtemp(&template) != nil)
    let root = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    var made = [root]
    defer { for path in made.reversed() { remove(path) } }
    for (file, text) in files.sorted(by: { $0.key < $1.key }) {
        var folder = root
        for part in file.split(separator: "/").dropLast() {
            folder += "/\(part)"
            if mkdir(folder, 0o700) == 0 { made.append(folder) }
        }
        let path = "\(root)/\(file)"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        try #require(descriptor >= 0)
        made.append(path)
        let written = write(descriptor, Array(text.utf8), text.utf8.count)
        close(descriptor)
        try #require(written == text.utf8.count)
    }
    try body(root)
}
