import BridgeJSON
import TOMLDocument
import TaskRuntime
import Testing

@testable import trestled

@Suite("The sample of a configuration")
struct ConfigurationSampleTests {
    /// As an installation for the whole machine has it: that is whose paths the sample shows.
    private let defaults = Configuration(environment: environment(userID: 0), executable: "/usr/bin/trestled")

    private func sample() throws -> [Substring] {
        try ConfigurationSample(document: describedConfiguration()).text
            .split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// The sample with its settings in force: `#key = value` without a space behind the `#`.
    private func inForce(_ lines: [Substring]) throws -> TOMLDocument {
        let uncommented = lines.map { isSetting($0) ? $0.dropFirst() : $0 }
        return try TOMLDocument(parsing: uncommented.joined(separator: "\n"), file: "sample.toml")
    }

    private func isSetting(_ line: Substring) -> Bool {
        line.hasPrefix("#") && !line.hasPrefix("# ") && !line.hasPrefix("#:") && line != "#"
    }

    @Test("As it stands it says nothing")
    func nothingInForce() throws {
        let document = try TOMLDocument(parsing: sample().joined(separator: "\n"), file: "sample.toml")
        let read = try defaults.overlaid(by: document, ConfigurationOverrides(), workingDirectory: "/").checked()
        #expect(read.origins.isEmpty)
        #expect(read.pluginSections.isEmpty)
    }

    @Test("A setting without a table can be appended to it, and one of a table with the line of that table")
    func appended() throws {
        let lines = try sample() + ["drain_timeout = \"7s\"", "[limits]", "sessions = 7"]
        let document = try TOMLDocument(parsing: lines.joined(separator: "\n"), file: "sample.toml")
        let read = try defaults.overlaid(by: document, ConfigurationOverrides(), workingDirectory: "/").checked()
        #expect(read.drainTimeout == .seconds(7) && read.limits.sessions == 7)
        #expect(read.origins.count == 2)
    }

    @Test("Each of its settings is at its default, those of plugins too")
    func defaultsAsShown() throws {
        let document = try inForce(try sample())
        var read = try defaults.overlaid(by: document, ConfigurationOverrides(), workingDirectory: "/").checked()
        // One of the candidates, by its plain name.
        #expect(read.pluginSearch.named == ["/usr/lib/trestle/plugins"])
        #expect(defaults.pluginSearch.named.contains("/usr/bin/../lib/trestle/plugins"))
        #expect(read.section(of: "lamp")?.json == ["colours": ["red", "green"], "level": 3])
        read.pluginSections = []
        read.pluginSearch = defaults.pluginSearch
        read.origins = [:]
        read.file = nil
        #expect(read == defaults)
    }

    @Test("It holds every setting, in the order in which they are declared")
    func complete() throws {
        let document = try inForce(try sample())
        let keys = document.root.entries.flatMap { entry in
            // Sections of plugins are no settings, tables of quotas are.
            entry.value.table.map { table in
                table.entries.filter { entry.key != "plugins" || $0.value.table == nil }.map {
                    "\(entry.key).\($0.key)"
                }
            } ?? [entry.key]
        }
        #expect(keys == Configuration.settings.map(\.key))
    }

    @Test("Every setting has a comment above it, and no line is longer than 120 characters")
    func comments() throws {
        let lines = try sample()
        for (line, above) in zip(lines.dropFirst(), lines) where isSetting(line) {
            #expect(above.hasPrefix("# "), "\(line)")
        }
        #expect(lines.allSatisfy { $0.count <= 120 })
    }
}

/// A plugin that describes its section, one that does not, and the daemon's own settings.
func describedConfiguration() throws -> ConfigurationDocument {
    let described = #"""
        {"name": "lamp", "version": "1", "tasks": [], "reloadable": true, "configuration": {"type": "object",
         "properties": {
          "colours": {"type": ["array", "null"], "items": {"enum": ["red", "green"]}, "default": ["red", "green"],
           "description": "Which colours | lights it has."},
          "level": {"type": ["integer", "null"], "minimum": 1, "maximum": 5, "default": 3,
           "description": "How bright it is."}}}}
        """#
    let plain = #"{"name": "plain", "version": "1", "tasks": []}"#
    return ConfigurationDocument(
        plugins: try [plain, described].map { text in
            try Array(text.utf8).withUnsafeBytes { try PluginManifest(parsing: $0) }
        })
}
