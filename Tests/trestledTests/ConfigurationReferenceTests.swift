import BridgeJSON
import Testing

@testable import trestled

@Suite("The reference of the settings")
struct ConfigurationReferenceTests {
    private func lines() throws -> [Substring] {
        try ConfigurationReference(document: describedConfiguration()).text.split(separator: "\n")
    }

    @Test("Each setting has a row of five cells that states when a change takes effect")
    func rows() throws {
        let rows = try lines().filter { $0.hasPrefix("| `") }
        #expect(rows.count == Configuration.settings.count + 2)
        for row in rows {
            let cells = row.replacing("\\|", with: "").split(separator: "|").map { $0.trimmingPrefix(" ") }
            #expect(cells.count == 5, "\(row)")
            #expect(cells.allSatisfy { !$0.isEmpty }, "\(row)")
        }
        for setting in Configuration.settings {
            let row = try #require(rows.first { $0.hasPrefix("| `\(setting.key)` |") }, "\(setting.key)")
            #expect(row.contains("| after a restart |") == (setting.effect == .restart), "\(row)")
            #expect(row.contains("| at a reload |") == (setting.effect == .reload), "\(row)")
        }
    }

    @Test("A plugin that describes its section has a table with types, ranges and defaults")
    func plugins() throws {
        let lines = try lines()
        #expect(lines.contains("### `[plugins.lamp]`"))
        #expect(!lines.contains { $0.contains("plain") })
        let level = "| `plugins.lamp.level` | whole number, 1 to 5 | `3` | at a reload | How bright it is. |"
        #expect(lines.contains { $0 == level })
        #expect(
            lines.contains {
                $0.hasPrefix("| `plugins.lamp.colours` | array of \"red\", \"green\" | `[\"red\", \"green\"]` |")
            })
    }

    @Test("Special characters in cells are escaped")
    func escaped() throws {
        #expect(try lines().contains { $0.hasSuffix("| Which colours \\| lights it has. |") })
        #expect(try lines().contains { $0.contains("lib\\*Plugin.so") })
    }
}
