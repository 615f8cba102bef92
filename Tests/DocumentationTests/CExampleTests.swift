import Foundation
import Testing

@Suite("The C code on the pages")
struct CExampleTests {
    @Test(
        "is part of an example, whose tests run it",
        arguments: [
            ("docs/plugins.md", "Examples/CounterC/counter.c"), ("docs/streams.md", "Examples/Rot13C/rot13.c"),
        ])
    func inExample(page: String, example: String) throws {
        let code = try String(contentsOf: Page.root.appending(path: example), encoding: .utf8)
        let blocks = try Page(page).blocks.filter { $0.info == "c" }
        #expect(!blocks.isEmpty)
        for block in blocks { #expect(holds(code, block), "\(page):\(block.line)") }
    }

    /// Checks that the code contains each part of the block. Parts that an empty line separates may be apart.
    private func holds(_ code: String, _ block: Page.Block) -> Bool {
        block.text.components(separatedBy: "\n\n").allSatisfy { code.contains($0) }
    }
}
