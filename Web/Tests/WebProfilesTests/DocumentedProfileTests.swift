import Glibc
import TOMLDocument
import TestSupport
import Testing
import WebProfiles

@Suite("The profile in docs/web.md") struct DocumentedProfileTests {
    @Test("is a profile") func example() throws {
        let root = #filePath.split(separator: "/").dropLast(4).reduce(into: "") { $0 += "/\($1)" }
        let page = contents(of: "\(root)/docs/web.md")
        let blocks = page.split(separator: "```toml\n").compactMap { $0.split(separator: "```").first }
        let block = try #require(blocks.first { $0.hasPrefix("start = ") })
        let profile = try Profile(try TOMLDocument(parsing: String(block), file: "docs/web.md"))
        #expect(profile.isKiosk && profile.bridge.count == 1 && profile.external == .open)
    }
}
