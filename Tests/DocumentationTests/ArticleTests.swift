import Foundation
import Testing

@Suite("The articles of the Swift reference")
struct ArticleTests {
    /// The folders with the compiled code that the articles show.
    private static let sources = [
        "Examples/Files", "Examples/Greeter", "Tests/BridgeClientTests", "Tests/FixturePlugin",
    ]

    private static func files(in folder: String, _ suffix: String) -> [String] {
        let walk = FileManager.default.enumerator(atPath: Page.root.appending(path: folder).path) ?? .init()
        return walk.compactMap { $0 as? String }.filter { $0.hasSuffix(suffix) && !$0.hasPrefix(".build") }
            .map { "\(folder)/\($0)" }
    }

    private static var articles: [String] { files(in: "Sources", ".md").filter { $0.contains(".docc/") } }

    /// Returns the lines without surrounding spaces and without empty lines, so that a listing may be indented
    /// differently.
    private static func plain(_ lines: [String]) -> [String] {
        lines.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    @Test("show only code that an example compiles and its tests run")
    func listings() throws {
        let code = try Self.sources.flatMap { Self.files(in: $0, ".swift") }.map { Self.plain(try Page($0).lines) }
        let articles = Self.articles
        #expect(articles.count >= 6)
        for article in articles {
            for block in try Page(article).blocks where block.info == "swift" {
                let wanted = Self.plain(block.lines)
                let isThere = code.contains { lines in
                    lines.indices.contains { lines[$0...].starts(with: wanted) }
                }
                #expect(isThere, "\(article):\(block.line)")
            }
        }
    }

    @Test("are listed by their module's page")
    func topics() throws {
        for article in Self.articles {
            let name = URL(filePath: article).deletingPathExtension().lastPathComponent
            let folder = URL(filePath: article).deletingLastPathComponent()
            let module = folder.deletingPathExtension().lastPathComponent
            guard name != module else { continue }
            let page = try Page("Sources/\(module)/\(module).docc/\(module).md").lines.joined(separator: "\n")
            #expect(page.contains("- <doc:\(name)>"), "\(article)")
        }
    }
}
