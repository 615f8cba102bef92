import Foundation
import Testing

@Suite("The plugin guide")
struct GuideTests {
    private let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Returns the lines of a text that are not empty, without their indentation.
    private func lines(_ text: some StringProtocol) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    private func contains(_ block: [String], in file: [String]) -> Bool {
        file.indices.contains { file[$0...].starts(with: block) }
    }

    @Test("shows only code that is built: each of its code blocks occurs in an example")
    func codeIsBuilt() throws {
        let guide = try String(contentsOf: root.appending(path: "docs/plugins.md"), encoding: .utf8)
        let examples = try #require(
            FileManager.default.enumerator(
                at: root.appending(path: "Examples"), includingPropertiesForKeys: nil, options: .skipsHiddenFiles))
        let files = try examples.compactMap { $0 as? URL }.filter { ["swift", "c"].contains($0.pathExtension) }
            .map { lines(try String(contentsOf: $0, encoding: .utf8)) }
        // Every second part of the page is a code block, whose first line is the language.
        let blocks = guide.components(separatedBy: "```").enumerated().filter { !$0.offset.isMultiple(of: 2) }
            .map { lines($0.element) }.filter { ["swift", "c"].contains($0.first) }
        #expect(blocks.count > 8)
        for block in blocks {
            #expect(
                files.contains { contains(Array(block.dropFirst()), in: $0) },
                "Not in the examples:\n\(block.joined(separator: "\n"))")
        }
    }
}
