import BridgeJSON
import Foundation
import Testing

@Suite("Links of the documentation")
struct LinkTests {
    @Test("Every link leads to an existing file of the repository, and to an existing heading", arguments: Page.paths)
    func links(_ path: String) throws {
        let page = try Page(path)
        let folder = Page.root.appending(path: path).deletingLastPathComponent()
        for (line, target) in page.links where !target.contains("://") {
            let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let file = parts[0].isEmpty ? Page.root.appending(path: path) : folder.appending(path: parts[0])
            #expect(
                FileManager.default.fileExists(atPath: file.path(percentEncoded: false)),
                "\(path):\(line): \(target) leads to no file")
            guard parts.count == 2, file.pathExtension == "md" else { continue }
            let relative = file.standardized.path().dropFirst(Page.root.path().count).drop { $0 == "/" }
            let anchors = try Page(String(relative)).anchors
            #expect(anchors.contains(parts[1]), "\(path):\(line): there is no heading #\(parts[1])")
        }
    }

    @Test("Every conformance vector names a heading of the pages that describe its rule")
    func vectors() throws {
        let pages = ["docs/protocol.md", "docs/daemon-tasks.md", "docs/plugin-tasks.md"]
        let anchors = try pages.reduce(into: Set<String>()) { $0.formUnion(try Page($1).anchors) }
        let folder = Page.root.appending(path: "Tests/Conformance")
        let vectors = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }
        #expect(!vectors.isEmpty)
        for vector in vectors {
            let see = try JSON(parsing: String(contentsOf: vector, encoding: .utf8))["see"]?.stringValue ?? ""
            #expect(anchors.contains(see), "\(vector.lastPathComponent): there is no heading #\(see)")
        }
    }
}
