import Foundation
import Testing

@Suite("Statements in two places")
struct AgreementTests {
    private func text(_ path: String) throws -> String {
        try String(contentsOf: Page.root.appending(path: path), encoding: .utf8)
    }

    @Test("The documents state the same exposure of the unit, with and without delegation")
    func exposure() throws {
        let operations = try text("docs/operations.md")
        let row = try #require(operations.firstMatch(of: #/\| exposure by [^|]*\| ([0-9.]+) \| ([0-9.]+) \|/#))
        let rated = try #require(
            operations.firstMatch(of: #/rates the exposure ([0-9.]+) of 10/#), "the sentence about hardening")
        let security = try #require(
            try text("docs/security.md").firstMatch(
                of: #/larger exposure: ([0-9.]+) of 10 instead of ([0-9.]+) by/#), "the sentence about delegation")
        #expect(row.1 == rated.1)
        #expect(security.2 == row.1 && security.1 == row.2)
    }

    @Test("The description of the option namespace names the verb and the form of policy.md")
    func namespace() throws {
        let schemas = try text("Plugins/Persistence/Tasks/Calls/Schemas.swift")
        let description = try #require(
            schemas.firstMatch(of: #/namespaceDescription =\n([^\n]*\n[^\n]*)/#)?.1.replacing(#/"\n *\+ "/#, with: ""))
        let row = try #require(
            try text("docs/policy.md").firstMatch(
                of:
                    #/\| `([a-z]+)` \| [^|]*option `namespace`[^|]*\| namespaces: a user id, a colon, an origin; `([^`]+)` \|/#
            ))
        #expect(description.contains("another's by the verb \(row.1) of the policy"))
        #expect(description.contains("as UID:ORIGIN, such as \(row.2);"))
    }

    @Test("The installed modules have the dependencies of the modules in this package")
    func installedModules() throws {
        let (here, installed) = (try dependencies("Package.swift"), try dependencies("packaging/swift/Package.swift"))
        #expect(installed.count >= 3)
        for (module, names) in installed { #expect(here[module] == names, "\(module)") }
    }

    /// Each trait is a compiler flag. SwiftPM orders several traits differently each time, and then rebuilds
    /// everything.
    @Test(
        "No package enables two traits of this one, and no trait enables another",
        arguments: [
            "Package.swift", "Web/Package.swift", "Benchmarks/Package.swift", "Fuzz/Package.swift",
            "Examples/Clipboard/Package.swift", "Examples/Files/Package.swift", "Examples/Greeter/Package.swift",
            "Examples/Interceptors/Package.swift",
        ])
    func traits(_ manifest: String) throws {
        let enabled = try text(manifest).matches(of: #/(?:default\(enabledTraits|path: [^)]*traits): \[([^\]]*)\]/#)
        #expect(enabled.allSatisfy { !$0.1.contains(",") })
        #expect(!(try text(manifest).contains(#/\.trait\([^)]*enabledTraits/#)))
    }

    /// Returns the dependencies of each module in a package manifest.
    private func dependencies(_ manifest: String) throws -> [String: String] {
        let targets = try text(manifest).matches(
            of: #/\.target\(\s*name: "(\w+)",\s*dependencies: \[([^\]]*)\]/#)
        return Dictionary(targets.map { (String($0.1), String($0.2)) }) { first, _ in first }
    }
}
