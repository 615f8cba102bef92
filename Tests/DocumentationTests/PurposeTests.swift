import Foundation
import Testing

@Suite("The purposes of Fetch and Cookies")
struct PurposeTests {
    private static let files = ["CookiePurposeTests", "RequestPurposeTests"]

    /// Returns the last column of the table on the page.
    private func listed() throws -> [String] {
        let lines = try Page("docs/fetch.md").lines
        let start = try #require(lines.firstIndex(of: "## Purposes"))
        let rows = lines[start...].filter { $0.hasPrefix("| ") }.dropFirst(2)
        return rows.compactMap { $0.split(separator: "|").last?.trimmingCharacters(in: .whitespaces) }
    }

    /// Returns the display names of the tests.
    private func tests() throws -> [String] {
        try Self.files.flatMap { name in
            let path = "Tests/FetchTests/\(name).swift"
            let text = try String(contentsOf: Page.root.appending(path: path), encoding: .utf8)
            return text.matches(of: #/@Test\(\s*"([^"]+)"/#).map { String($0.output.1) }
        }
    }

    @Test("are exactly the names of their tests")
    func tableAndTests() throws {
        let (listed, tests) = (try listed(), try tests())
        #expect(!listed.isEmpty)
        #expect(listed.sorted() == tests.sorted(), "the table of docs/fetch.md is to name the tests of \(Self.files)")
    }
}
