import Foundation
import Testing

@Suite("The version")
struct VersionTests {
    @Test("is the same in the programs, the JavaScript package and the Python package")
    func packages() throws {
        let program = try version(in: "Sources/CommandLineSupport/TrestleVersion.swift", after: "current = \"")
        #expect(program.split(separator: ".").count == 3)
        #expect(try version(in: "Clients/JavaScript/package.json", after: "\"version\": \"") == program)
        #expect(try version(in: "Clients/Python/trestle_bridge/__init__.py", after: "__version__ = \"") == program)
    }

    private func version(in path: String, after mark: String) throws -> Substring {
        let text = try String(contentsOf: Page.root.appending(path: path), encoding: .utf8)
        let start = try #require(text.firstRange(of: mark)?.upperBound, "\(path) has no \(mark)")
        return text[start...].prefix { $0 != "\"" }
    }
}
