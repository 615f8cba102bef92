import EventLoop
import TestSupport
import Testing

@Suite("The table of capabilities in docs/web.md") struct CapabilityTableTests {
    private static let tests = #filePath.split(separator: "/").dropLast(2).reduce(into: "") { $0 += "/\($1)" }
    private static let page =
        tests.split(separator: "/").dropLast(2).reduce(into: "") { $0 += "/\($1)" } + "/docs/web.md"

    /// What each row says, and the tests that it names as `SUITE.FUNCTION`.
    private static let rows: [(capability: String, tests: [String])] = {
        let section = contents(of: page).split(separator: "## What it can do\n").dropFirst().first ?? ""
        let table = section.split(separator: "\n").drop { !$0.hasPrefix("| --- ") }.dropFirst().prefix {
            $0.hasPrefix("|")
        }
        return table.map { row in
            let cells = row.split(separator: "|").map { $0.drop { $0 == " " } }
            let names = cells.last?.split(separator: "`").filter { $0.contains(".") }.map { String($0) } ?? []
            return (String(cells.first ?? ""), names)
        }
    }()

    /// The texts of the suites, by their names.
    private static let suites: [String: String] = {
        var suites: [String: String] = [:]
        for folder in (try? FolderContents.names(in: tests)) ?? [] {
            for file in (try? FolderContents.names(in: "\(tests)/\(folder)")) ?? [] where file.hasSuffix(".swift") {
                suites[String(file.dropLast(6))] = contents(of: "\(tests)/\(folder)/\(file)")
            }
        }
        return suites
    }()

    @Test("has a test in each row, and each test is there") func rows() throws {
        #expect(Self.rows.count > 30)
        for row in Self.rows {
            #expect(!row.tests.isEmpty, "\(row.capability) names no test")
            for name in row.tests {
                let parts = name.split(separator: ".")
                let text = Self.suites[String(parts[0])] ?? ""
                // The attribute stands before the function, on its line or on those above.
                let before = text.split(separator: "func \(parts[1])(", maxSplits: 1).first ?? ""
                let attribute = before.count < text.count ? before.split(separator: "@Test").last ?? "" : ""
                #expect(
                    before.contains("@Test") && !attribute.contains("func ") && !attribute.isEmpty,
                    "\(row.capability): there is no test \(name)")
            }
        }
    }
}
