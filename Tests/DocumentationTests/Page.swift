import Foundation

/// A page of the documentation, parsed as far as the tests need it.
struct Page {
    /// The path relative to the root of the repository.
    let path: String
    let lines: [String]

    /// The root of the repository.
    static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized

    /// All pages of the repository.
    static let paths: [String] = {
        let files = FileManager.default.enumerator(
            at: root, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
        let found = files?.compactMap { ($0 as? URL)?.standardized.path(percentEncoded: false) } ?? []
        return found.filter { $0.hasSuffix(".md") && !$0.contains("/node_modules/") }
            .map { String($0.dropFirst(root.path(percentEncoded: false).count).drop { $0 == "/" }) }.sorted()
    }()

    init(_ path: String) throws {
        self.path = path
        lines = try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// A fenced block.
    struct Block {
        /// The text after the opening fence: the language, and words for the tests.
        var info: String
        /// The line of the opening fence, from 1.
        var line: Int
        var lines: [String] = []

        var text: String { lines.joined(separator: "\n") }
    }

    /// All fenced blocks, in order.
    var blocks: [Block] {
        var blocks: [Block] = []
        var isInside = false
        for (index, line) in lines.enumerated() {
            if line.hasPrefix("```") {
                isInside.toggle()
                if isInside { blocks.append(Block(info: String(line.dropFirst(3)), line: index + 1)) }
            } else if isInside {
                blocks[blocks.count - 1].lines.append(line)
            }
        }
        return blocks
    }

    /// The lines outside of blocks, with their numbers from 1.
    var prose: [(number: Int, text: String)] {
        var prose: [(number: Int, text: String)] = []
        var isInside = false
        for (index, line) in lines.enumerated() {
            if line.hasPrefix("```") { isInside.toggle() } else if !isInside { prose.append((index + 1, line)) }
        }
        return prose
    }

    /// The anchors of the headings: lower-case letters, no punctuation, hyphens for spaces.
    var anchors: Set<String> {
        var anchors: Set<String> = []
        for (_, line) in prose where line.hasPrefix("#") {
            let title = line.drop { $0 == "#" }.drop { $0 == " " }.lowercased()
            let kept = title.unicodeScalars.filter {
                $0.properties.isAlphabetic || $0.properties.numericType != nil || "-_ ".unicodeScalars.contains($0)
            }
            let anchor = String(String.UnicodeScalarView(kept)).replacingOccurrences(of: " ", with: "-")
            // Later headings with the same text are numbered.
            var number = 0
            while !anchors.insert(number == 0 ? anchor : "\(anchor)-\(number)").inserted { number += 1 }
        }
        return anchors
    }

    /// Returns the cells of the first table under a heading, without its head. Empty if there is none.
    func table(under heading: String) -> [[String]] {
        let section = lines.drop { $0 != "## \(heading)" }
        let rows = section.drop { !$0.hasPrefix("| ") }.prefix { $0.hasPrefix("| ") }.dropFirst(2)
        return rows.map { row in
            row.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    /// The targets of the links in the prose, with their lines.
    var links: [(line: Int, target: String)] {
        prose.flatMap { number, text in
            text.matches(of: #/\]\(([^)\s]+)\)/#).map { (number, String($0.output.1)) }
        }
    }
}
