import Foundation
import Testing

@Suite("Completeness of the documentation")
struct CompletenessTests {
    @Test("The protocol page lists every error code of the sources")
    func errorCodes() throws {
        let listed = try Self.listedCodes(in: Page("docs/protocol.md"))
        var found: Set<String> = []
        // This includes BridgeClient: the page states that its own codes are never sent.
        for folder in ["Sources", "Plugins"] {
            for source in try Self.sources(in: folder) {
                let text = try String(contentsOf: source, encoding: .utf8)
                found.formUnion(text.matches(of: #/static let [a-zA-Z`]+: ErrorCode = "([^"]+)"/#).map { String($0.1) })
                found.formUnion(text.matches(of: #/BridgeError\(\s*"([a-z_.]+)"/#).map { String($0.1) })
            }
        }
        #expect(found.count >= 20)
        #expect(found.subtracting(listed) == [])
    }

    @Test("The sources contain every error code of the protocol page")
    func listedCodes() throws {
        let listed = try Self.listedCodes(in: Page("docs/protocol.md"))
        let texts = try ["Sources", "Plugins"].flatMap { try Self.sources(in: $0) }
            .map { try String(contentsOf: $0, encoding: .utf8) }
        #expect(listed.count >= 20)
        #expect(listed.filter { code in !texts.contains { $0.contains("\"\(code)\"") } } == [])
    }

    @Test("The configuration page contains every setting of the daemon")
    func settings() throws {
        let page = try Page("docs/configuration.md").lines.joined(separator: "\n")
        let sources = try Self.sources(in: "Sources/trestled/Configuration")
            .filter { $0.lastPathComponent == "ConfigurationSettings.swift" }
            .map { try String(contentsOf: $0, encoding: .utf8) }.joined()
        let keys = sources.matches(of: #/Declaration\(\s*"([a-z_.]+)"/#).map { String($0.1) }
        #expect(keys.count >= 10)
        #expect(keys.filter { !page.contains("`\($0)`") } == [])
    }

    @Test("Every test that the security page names exists")
    func securityTests() throws {
        let page = try Page("docs/security.md").lines.joined(separator: "\n")
        let names = page.matches(of: #/`([A-Za-z]+Tests)\.([a-zA-Z]+)`/#).map { (String($0.1), String($0.2)) }
        let sources = try Self.sources(in: "Tests").map { try String(contentsOf: $0, encoding: .utf8) }
        #expect(names.count >= 20)
        let missing = names.filter { suite, function in
            // A suite may have several files.
            !sources.contains { text in
                ["struct", "extension"].contains { text.contains("\($0) \(suite) ") }
                    && text.contains("func \(function)(")
            }
        }
        #expect(missing.map { "\($0.0).\($0.1)" } == [])
    }

    /// Returns the codes in the first column of the table, and those in the paragraph after it.
    private static func listedCodes(in page: Page) throws -> Set<String> {
        let section = page.lines.drop { $0 != "## Error codes" }.dropFirst().prefix { !$0.hasPrefix("## ") }
        var codes: Set<String> = []
        for line in section {
            // In a row only the first column counts, in other lines everything.
            let text = line.hasPrefix("|") ? String(line.dropFirst().prefix { $0 != "|" }) : line
            let names = text.matches(of: #/`([a-z_.]+)`/#).map { String($0.1) }
            codes.formUnion(names)
        }
        return codes
    }

    private static func sources(in folder: String) throws -> [URL] {
        let files = FileManager.default.enumerator(
            at: Page.root.appending(path: folder), includingPropertiesForKeys: nil)
        return (files?.allObjects ?? []).compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
    }
}
