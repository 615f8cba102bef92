import Foundation
import Testing

@Suite("The purposes of Fetch and Cookies")
struct PurposeTests {
    private static let files = ["CookiePurposeTests", "RequestPurposeTests"]

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
        let (listed, tests) = (try Page("docs/fetch.md").table(under: "Purposes").compactMap(\.last), try tests())
        #expect(!listed.isEmpty)
        #expect(listed.sorted() == tests.sorted(), "the table of docs/fetch.md is to name the tests of \(Self.files)")
    }
}
