import Foundation
import Testing

// Serialized, because the tests block their thread while the daemon works.
@Suite("Files generated from the declarations of the settings", .serialized)
struct GeneratedFilesTests {
    /// Returns the output of the daemon, with the plugins built together with the tests.
    private func printed(_ form: String) throws -> String {
        let daemon = DaemonProcess.buildFolder.appending(path: "trestled").path(percentEncoded: false)
        return try Program.run([daemon, "--print-config", form])
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Page.root.appending(path: path), encoding: .utf8)
    }

    @Test(
        "match the output of the daemon",
        arguments: [("sample", "etc/trestled.toml"), ("schema", "etc/trestled.schema.json")])
    func files(_ form: String, _ path: String) throws {
        #expect(try text(path) == printed(form), "\(path) is not what the daemon prints: run `make generate`")
    }

    @Test("match the output of the daemon in the configuration page")
    func page() throws {
        let path = "docs/configuration.md"
        let parts = try text(path).split(separator: #/<!-- (the reference: .*|end of the reference) -->\n/#)
        try #require(parts.count == 2, "\(path) has the reference between two marks, and nothing behind")
        let tables = parts[1].trimmingCharacters(in: .newlines)
        let reference = try printed("reference").trimmingCharacters(in: .newlines)
        #expect(tables == reference, "the tables of \(path) are not what the daemon prints: run `make generate`")
    }

    @Test("do not depend on the user's environment or configuration file, even if this is invalid")
    func independent() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "trestled.toml")
        try Data("nothing = [".utf8).write(to: file)
        let daemon = DaemonProcess.buildFolder.appending(path: "trestled").path(percentEncoded: false)
        for form in ["sample", "schema", "reference"] {
            let command = [
                "RUNTIME_DIRECTORY=/nowhere", "STATE_DIRECTORY=/nowhere", daemon, "--config",
                file.path(percentEncoded: false), "--print-config", form,
            ]
            #expect(try Program.run(command) == printed(form))
        }
    }
}
