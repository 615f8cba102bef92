import Foundation
import Testing

@Suite("The table of modules in docs/architecture.md")
struct ModuleTableTests {
    /// The modules that Package.swift declares with Swift code, with the modules that each imports.
    private func declared() throws -> [String: Set<String>] {
        let manifest = try String(contentsOf: Page.root.appending(path: "Package.swift"), encoding: .utf8)
        let targets = manifest.matches(
            of: #/\.(?:target|executableTarget)\(\s*name: "([\w-]+)"(?:,\s*dependencies: (\[[^\]]*\]|\w+))?/#)
        var declared: [String: Set<String>] = [:]
        for target in targets {
            var list = String(target.2 ?? "")
            if !list.isEmpty, !list.hasPrefix("[") {
                // The list is a constant of the manifest.
                let start = try #require(manifest.range(of: "let \(list): [Target.Dependency] = ["), "\(list)")
                    .upperBound
                list = String(manifest[start...].prefix { $0 != "]" })
            }
            declared[String(target.1), default: []].formUnion(list.matches(of: #/"([\w-]+)"/#).map { String($0.1) })
        }
        return declared
    }

    @Test("has a row for each module, with the imports that Package.swift declares")
    func imports() throws {
        let declared = try declared()
        var rows: [String: Set<String>] = [:]
        for row in try Page("docs/architecture.md").table(under: "Modules") {
            for module in row[0].matches(of: #/`([\w-]+)`/#) {
                rows[String(module.1)] = Set(row[2].split(separator: ", ").map(String.init))
            }
        }
        let folders = ["Sources", "Sources/C"]
        let modules = try folders.flatMap {
            try FileManager.default.contentsOfDirectory(atPath: Page.root.appending(path: $0).path())
        }
        for module in modules where module != "C" {
            let row = try #require(rows[module], "\(module) has no row")
            #expect(row == declared[module, default: []], "\(module)")
        }
    }
}
