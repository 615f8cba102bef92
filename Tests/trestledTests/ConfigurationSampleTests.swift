import Testing

@testable import TOMLDocument
@testable import trestled

@Suite("The sample file, etc/trestled.toml")
struct ConfigurationSampleTests {
    /// As an installation for the whole machine has it: that is whose paths the sample shows.
    private let defaults = Configuration(environment: environment(userID: 0), executable: "/usr/bin/trestled")

    private let path = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/etc/trestled.toml"

    private func sample() throws -> [Substring] {
        let bytes = try FileText.read(path, limitBytes: TOMLDocument.maximumBytes)
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// The sample with its settings in force: `#key = value` without a space behind the `#`.
    private func inForce(_ lines: [Substring]) throws -> TOMLDocument {
        let uncommented = lines.map { $0.hasPrefix("#") && !$0.hasPrefix("# ") ? $0.dropFirst() : $0 }
        return try TOMLDocument(parsing: uncommented.joined(separator: "\n"), file: "etc/trestled.toml")
    }

    @Test("As it stands it says nothing")
    func nothingInForce() throws {
        let document = try TOMLDocument(contentsOf: path)
        let read = try defaults.overlaid(by: document, ConfigurationOverrides(), workingDirectory: "/")
        #expect(read.origins.isEmpty)
        #expect(read.pluginSections.isEmpty)
    }

    @Test("Each of its settings is at its default")
    func defaultsAsShown() throws {
        let document = try inForce(try sample())
        var read = try defaults.overlaid(by: document, ConfigurationOverrides(), workingDirectory: "/")
        // One of the candidates, by its plain name.
        #expect(read.pluginSearch.named == ["/usr/lib/trestle/plugins"])
        #expect(defaults.pluginSearch.named.contains("/usr/bin/../lib/trestle/plugins"))
        read.pluginSearch = defaults.pluginSearch
        read.origins = [:]
        read.file = nil
        #expect(read == defaults)
    }

    @Test("It holds every setting, in the order in which they are declared")
    func complete() throws {
        let document = try inForce(try sample())
        let keys = document.root.entries.flatMap { entry in
            entry.value.table.map { $0.entries.map { "\(entry.key).\($0.key)" } } ?? [entry.key]
        }
        #expect(keys == Configuration.settings.map(\.key))
    }

    @Test("Every setting has a comment above it, and no line is longer than 120 characters")
    func comments() throws {
        let lines = try sample()
        for (line, above) in zip(lines.dropFirst(), lines) where line.hasPrefix("#") && !line.hasPrefix("# ") {
            #expect(line == "#" || above.hasPrefix("#"), "\(line)")
        }
        #expect(lines.allSatisfy { $0.count <= 120 })
    }
}
