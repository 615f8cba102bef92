import ArgumentParser
import BridgeClient
import BridgeJSON

/// `trestle conformance`
struct ConformanceCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "conformance",
        abstract: "Checks whether a daemon follows the protocol, rule by rule.",
        discussion: """
            Each file of the folder contains messages to send and the messages that must be received. A file that \
            needs a task which the daemon does not provide is skipped. The checks register tasks, publish events and \
            store records whose names begin with conformance. They need a daemon that allows this, such as one of your \
            own.

            EXAMPLES
              trestle conformance
              trestle --socket /tmp/bridge.sock conformance --vectors my-vectors
              trestle conformance | jq -c 'select(.outcome == "failed")'

            EXIT STATUS
              0  every check passed or was skipped   1  at least one failed
            """)

    @OptionGroup var common: CommonOptions
    @ParentCommand var root: Trestle

    @Option(
        help: ArgumentHelp(
            "A folder of vectors, or one vector; default: those that come with trestle.", valueName: "path"))
    var vectors: String?

    @Option(
        help: ArgumentHelp("The time limit of each step of a check; default: 10 s.", valueName: "duration"))
    var stepTimeout: TimeLimit?

    func run() async throws {
        guard let folder = vectors ?? VectorFolder.standard else {
            throw ValidationError("the files that come with trestle are missing: specify a folder with --vectors")
        }
        let vectors: [Vector]
        do { vectors = try VectorFolder.vectors(at: folder) } catch { throw ValidationError("\(error)") }
        let path = socketPath
        let stepTimeout = self.stepTimeout?.duration ?? .seconds(10)
        try await withClient { client in
            let tasks = try await client.callPages("bridge.tasks", list: "tasks")["tasks"]?.arrayValue ?? []
            var report = ConformanceReport(tasks: Set(tasks.compactMap { $0["name"]?.stringValue }), screen: screen)
            for vector in vectors { await report.check(vector, path: path, stepTimeout: stepTimeout) }
            report.finish()
            if report.failed > 0 { throw ExitCode(1) }
        }
    }
}

/// Checks vectors one after the other and reports each.
private struct ConformanceReport {
    let tasks: Set<String>
    let screen: Screen
    private(set) var failed = 0
    private var passed = 0
    private var skipped = 0

    init(tasks: Set<String>, screen: Screen) { (self.tasks, self.screen) = (tasks, screen) }

    mutating func check(_ vector: Vector, path: String, stepTimeout: Duration) async {
        if let missing = vector.needs.first(where: { !tasks.contains($0) }) {
            skipped += 1
            return show(vector, "skipped", "there is no task \(missing)")
        }
        var failure = WireRun.failure(of: vector, path: path, stepTimeout: stepTimeout)
        if failure == nil, !vector.client.isEmpty {
            failure = await ClientRun.failure(of: vector, path: path, stepTimeout: stepTimeout)
        }
        if failure == nil { passed += 1 } else { failed += 1 }
        show(vector, failure == nil ? "passed" : "failed", failure)
    }

    private func show(_ vector: Vector, _ outcome: String, _ reason: String?) {
        guard screen.isForPeople else {
            var line: JSONObject = [
                "vector": .string(vector.name), "outcome": .string(outcome), "rule": .string(vector.rule),
                "see": .string(vector.see),
            ]
            line["reason"] = reason.map(JSON.string)
            return screen.write(line: .object(line))
        }
        screen.write("\(outcome)  \(screen.bold(vector.name)): \(vector.rule)\n")
        if let reason { screen.write("        \(PlainText.line(reason))\n") }
    }

    func finish() {
        let text = "\(passed) passed, \(failed) failed, \(skipped) skipped"
        if screen.isForPeople {
            screen.write("conformance: \(text)\n")
        } else if News.isShown {
            Screen.error.write("conformance: \(text)\n")
        }
    }
}
