import Foundation
import Testing

@Suite("The C code on the pages")
struct CExampleTests {
    @Test(
        "stands in an example, whose tests run it",
        arguments: [
            ("docs/plugins.md", "Examples/CounterC/counter.c"), ("docs/streams.md", "Examples/Rot13C/rot13.c"),
        ])
    func inExample(page: String, example: String) throws {
        let code = try String(contentsOf: Page.root.appending(path: example), encoding: .utf8)
        let blocks = try Page(page).blocks.filter { $0.info == "c" }
        #expect(!blocks.isEmpty)
        for block in blocks { #expect(holds(code, block), "\(page):\(block.line)") }
    }

    /// Parts with a line between them that is empty may lie apart.
    private func holds(_ code: String, _ block: Page.Block) -> Bool {
        block.text.components(separatedBy: "\n\n").allSatisfy { code.contains($0) }
    }
}
