import Foundation
import Testing

/// Work that the loop must not do with data whose size clients determine. ``allowed`` lists the source lines that do it
/// nevertheless, with the reason why their work is bounded.
@Suite("Work on the loop is bounded")
struct BoundedWorkTests {
    /// A pattern of code, and its remedy.
    private struct Rule {
        let name: String
        let isBroken: (String) -> Bool
        let remedy: String
    }

    private static var rules: [Rule] {
        [
            Rule(
                name: "value", isBroken: { $0.contains(/JSON\(parsing:|JSONCoding\.decode\(/) },
                remedy: "makes values of text. Keep the text, or bound its bytes before this line"),
            Rule(
                name: "answer", isBroken: { $0.contains(/: JSON = try await .*\.bridge\(/) },
                remedy: "makes values of whatever a client answers. Decode a type with the members that are wanted"),
            Rule(
                name: "sort", isBroken: { $0.contains(/\.sort(ed)?\b\s*[({]/) },
                remedy: "sorts on the loop. Keep the order while entries come and go, or answer in pages"),
            Rule(
                name: "walk",
                isBroken: {
                    $0.contains(/Array\([^)]*\.(values|keys)\)/)
                        || $0.contains(/\.(values|keys)\.(map|(compact|flat)Map|filter|reduce)\b/)
                        || $0.contains(/\.(values|keys)\.(contains|forEach|first|min|max)\b/)
                        || $0.contains(/\bfor\s.+\sin\s.+\.(values|keys)\b/)
                        || $0.contains(/(sessions|accounts)\.all[ .]/)
                },
                remedy: "walks a whole table. Use an index, or make it a step job"),
            Rule(
                name: "calls", isBroken: { $0.contains(/\bin calls\.inFlight\b/) },
                remedy: "walks all calls in flight. Use CallSweep"),
            Rule(
                name: "search",
                isBroken: {
                    $0.contains(/\.(first|last|contains)(Index)?\s*(\(where:|\{.*(\$\d|\bin\b))/)
                        || $0.contains(/\.(first|last)Index\(of:/)
                },
                remedy: "looks at one element after the other. Use an index, or make it a step job"),
            Rule(
                name: "gap", isBroken: { $0.contains(/\.remove\(at:/) },
                remedy: "moves up what is behind it. Use a list whose elements know their places"),
            Rule(
                name: "removal", isBroken: { $0.contains(/\.removeAll\s*(?:\{|\(where:)/) },
                remedy: "looks at every element to take some out. Use an index, or make it a step job"),
        ]
    }

    private static let folders = ["Sources/LaunchWorkers", "Sources/TaskRuntime", "Sources/BridgeServer"]

    /// The folders with only one rule: the other rules concern tables that clients fill.
    private static let foldersOfOneRule = [
        "Plugins": "answer", "Sources/BridgeMessage": "value", "Sources/PluginInterface": "value",
        "Sources/TaskHosts": "value", "Sources/TaskKit": "value", "Sources/PluginProtocol": "value",
    ]

    @Test("Each file has exactly the allowed lines, and each reason still has its lines")
    func sources() throws {
        var found: [String: [(place: String, remedy: String)]] = [:]
        for file in try Self.files() {
            for (number, line) in try Page(file).lines.enumerated() {
                guard !line.drop(while: { $0 == " " }).hasPrefix("//") else { continue }
                for rule in Self.rules(for: file) where rule.isBroken(line) {
                    found["\(file) \(rule.name)", default: []].append(("\(file):\(number + 1)", rule.remedy))
                }
            }
        }
        #expect(found.count >= 20)
        for (key, lines) in found where lines.count != Self.allowed[key]?.count ?? 0 {
            let places = lines.map(\.place).joined(separator: ", ")
            let known = Self.allowed[key]?.count ?? 0
            Issue.record(
                """
                \(places): this \(lines[0].remedy). \(known) such lines are allowed here. Where the work is bounded \
                otherwise, say so in BoundedWorkTests.allowed["\(key)"].
                """)
        }
        for key in Self.allowed.keys where found[key] == nil {
            Issue.record("BoundedWorkTests.allowed[\"\(key)\"]: there is no such line any more; take the reason out.")
        }
    }

    private static func rules(for file: String) -> [Rule] {
        guard let only = foldersOfOneRule.first(where: { file.hasPrefix($0.key + "/") })?.value else { return rules }
        return rules.filter { $0.name == only }
    }

    private static func files() throws -> [String] {
        try (folders + foldersOfOneRule.keys).flatMap { folder in
            let walk = FileManager.default.enumerator(atPath: Page.root.appending(path: folder).path)
            return try #require(walk).compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
                .map { "\(folder)/\($0)" }
        }
    }
}
