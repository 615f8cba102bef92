import BridgeJSON
import TOMLDocument
import TaskRuntime
import Testing

@testable import trestled

@Suite("The sample configuration")
struct ConfigurationSampleTests {
    /// The defaults of a system-wide installation. The sample shows their paths.
    private let defaults = Configuration(environment: environment(userID: 0), executable: "/usr/bin/trestled")

    private func sample() throws -> [Substring] {
        try ConfigurationSample(document: describedConfiguration()).text
            .split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// Returns the sample with its settings in force. A setting is `#key = value` without a space after the `#`.
    private func inForce(_ lines: [Substring]) throws -> TOMLDocument {
        let uncommented = lines.map { isSetting($0) ? $0.dropFirst() : $0 }
        return try TOMLDocument(parsing: uncommented.joined(separator: "\n"), file: "sample.toml")
    }

    private func isSetting(_ line: Substring) -> Bool {
        line.hasPrefix("#") && !line.hasPrefix("# ") && !line.hasPrefix("#:") && line != "#"
    }

    @Test("sets nothing")
    func nothingInForce() throws {
        let document = try TOMLDocument(parsing: sample().joined(separator: "\n"), file: "sample.toml")
        let read = try defaults.overlaid(by: document, ConfigurationOverrides(), workingDirectory: "/").checked()
        #expect(read.origins.isEmpty)
        #expect(read.pluginSections.isEmpty)
    }

    @Test("accepts appended settings, those of a table after the line of that table")
    func appended() throws {
        let lines = try sample() + ["drain_timeout = \"7s\"", "[limits]", "sessions = 7"]
        let document = try TOMLDocument(parsing: lines.joined(separator: "\n"), file: "sample.toml")
        let read = try defaults.overlaid(by: document, ConfigurationOverrides(), workingDirectory: "/").checked()
        #expect(read.drainTimeout == .seconds(7) && read.limits.sessions == 7)
        #expect(read.origins.count == 2)
    }

    @Test("shows each setting with its default, also those of plugins")
    func defaultsAsShown() throws {
        let document = try inForce(try sample())
        var read = try defaults.overlaid(by: document, ConfigurationOverrides(), workingDirectory: "/").checked()
        // One of the candidates, as a normalised path.
        #expect(read.pluginSearch.named == ["/usr/lib/trestle/plugins"])
        #expect(defaults.pluginSearch.named.contains("/usr/bin/../lib/trestle/plugins"))
        #expect(read.section(of: "lamp")?.json == ["colours": ["red", "green"], "level": 3])
        read.pluginSections = []
        read.pluginSearch = defaults.pluginSearch
        read.origins = [:]
        read.file = nil
        #expect(read == defaults)
    }

    @Test("contains every setting in the order of declaration")
    func complete() throws {
        let document = try inForce(try sample())
        let keys = document.root.entries.flatMap { entry in
            // Sections of plugins are not settings; tables of quotas are.
            entry.value.table.map { table in
                table.entries.filter { entry.key != "plugins" || $0.value.table == nil }.map {
                    "\(entry.key).\($0.key)"
                }
            } ?? [entry.key]
        }
        #expect(keys == Configuration.settings.map(\.key))
    }

    @Test("has a comment above every setting and no line of more than 120 characters")
    func comments() throws {
        let lines = try sample()
        for (line, above) in zip(lines.dropFirst(), lines) where isSetting(line) {
            #expect(above.hasPrefix("# "), "\(line)")
        }
        #expect(lines.allSatisfy { $0.count <= 120 })
    }
}

/// Returns the documentation of the daemon's settings and of two plugins, one of which describes its section.
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
