import BridgeJSON
@testable import TaskHosts
import TaskRuntime
import TOMLDocument
@testable import trestled

// The daemon's files. The input: a byte that selects the file, and the file's text.
//
// - A file that is not TOML is refused with a position within it.
// - The values read from a file have positions within it, in order, and unique names.
// - A mistake in a setting is reported in one line, with the setting and its position in the file.
func fuzzConfiguration(_ bytes: [UInt8]) throws(Violation) {
    var input = FuzzInput(bytes)
    let kind = FileKind.all[Int(input.byte()) % FileKind.all.count]
    let text = input.all()
    try kind.read(text)
}

/// A kind of file that the daemon reads. To fuzz another kind, add its reader to ``all``.
private struct FileKind: Sendable {
    /// Reads the text, and checks the result.
    var read: @Sendable ([UInt8]) throws(Violation) -> Void

    static let all: [FileKind] = [
        .toml(configuration),
        .toml(processManifest),
        FileKind(read: sessionTable),
        .toml(rules),
    ]

    /// A file in TOML: `read` gets the parsed document.
    private static func toml(
        _ read: @escaping @Sendable (TOMLDocument, Int) throws(Violation) -> Void
    ) -> FileKind {
        FileKind { (text) throws(Violation) in
            let lines = text.count { $0 == 0x0A } + 1
            let document: TOMLDocument
            do throws(TOMLError) { document = try TOMLDocument(bytes: text, file: "f.toml") } catch {
                try check(error.position, lines, error.reason)
                return
            }
            try check(document.root, lines)
            try read(document, lines)
        }
    }

    /// trestled.toml.
    private static func configuration(_ document: TOMLDocument, _ lines: Int) throws(Violation) {
        let environment = ConfigurationEnvironment(
            variables: [:], userID: 1000, homeDirectory: "/home/ada", workingDirectory: "/work")
        let defaults = Configuration(environment: environment, executable: "/opt/trestle/bin/trestled")
        let reading = defaults.overlaid(by: document, ConfigurationOverrides(), workingDirectory: "/work")
        for problem in ConfigurationErrors(problems: reading.problems).problems { try check(problem, lines) }
        try require(reading.faulty.isEmpty || !reading.problems.isEmpty, "refused for nothing")
        // Also the valid part of a file with mistakes.
        let read = reading.configuration
        _ = read.warnings(descriptors: 1024, obstacle: "no network")
        for section in read.pluginSections {
            try require(section.json.objectValue != nil, "the section \(section.name) is no object")
            try check(section.problem(at: "$.a[1].b", "no"), lines)
        }
    }

    /// NAME.plugin.toml.
    private static func processManifest(_ document: TOMLDocument, _ lines: Int) throws(Violation) {
        let command: PluginProcessCommand
        do throws(BridgeError) {
            command = try PluginProcessManifest.command(of: document, at: "/nowhere/w.plugin.toml")
        } catch {
            return try require(error.code == .pluginUnavailable, "refused with \(error.code)")
        }
        try require(!command.arguments.isEmpty, "a command without a program")
    }

    /// policy.d/NAME.toml.
    private static func rules(_ document: TOMLDocument, _ lines: Int) throws(Violation) {
        let file = PolicyFile(document, AccountNames(uid: { $0.count < 4 ? 7 : nil }, gid: { _ in nil }))
        for problem in file.problems + file.warnings { try check(problem, lines) }
        for rule in file.rules {
            try require(!rule.verbs.isEmpty && (1...lines).contains(rule.line), "a rule about nothing, or from nowhere")
        }
        _ = PolicyReview(file.rules).warnings
    }

    /// The session table that a daemon hands over to its successor.
    private static func sessionTable(_ text: [UInt8]) throws(Violation) {
        let table = SessionTable(reading: text)
        guard let written = try? table.text(user: { _ in nil }).text else {
            throw Violation(description: "a table cannot be written again")
        }
        let again = SessionTable(reading: written)
        try require(again.faults.isEmpty, "its own text has faults: \(again.faults)")
        try require((try? again.text(user: { _ in nil }).text) == written, "a table changes as it is written again")
    }
}

// MARK: Positions

private func check(_ position: TOMLPosition?, _ lines: Int, _ what: String) throws(Violation) {
    guard let position, (1...lines).contains(position.line), position.column >= 1 else {
        throw Violation(description: "at \(position.map { "\($0)" } ?? "no place") of \(lines) lines: \(what)")
    }
}

private func check(_ problem: ConfigurationProblem, _ lines: Int) throws(Violation) {
    try check(problem.position, lines, problem.description)
    try require(problem.key != nil && !problem.description.contains("\n"), "no one line: \(problem.description)")
}

private func check(_ table: TOMLTable, _ lines: Int) throws(Violation) {
    for entry in table.entries {
        try check(entry.keyPosition, lines, entry.key)
        try check(entry.value.position, lines, entry.key)
        if let inner = entry.value.table { try check(inner, lines) }
    }
    try require(Set(table.entries.map { Array($0.key.utf8) }).count == table.entries.count, "a name twice")
    let positions = table.entries.map(\.keyPosition)
    try require(positions == positions.sorted(), "names out of order")
}
