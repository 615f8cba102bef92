import ArgumentParser
import BridgeClient
import BridgeJSON

/// `trestle generate`
struct GenerateCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Writes typed functions for the running daemon's tasks, or Capacitor's plugins.",
        discussion: """
            Writes one file. For each task it contains the types of options, result and progress, derived from the \
            task's JSON Schemas, and a function that calls the task with the client library (trestle-bridge, \
            trestle_bridge). The output depends only on the tasks, so that it can be committed. The function of a task \
            without schemas accepts and returns any JSON. For Capacitor, the file adds to PluginHeaders, which \
            registerPlugin reads: load it before the page's own code.

            EXAMPLES
              trestle generate --language typescript --output tasks.ts
              trestle generate --language python --task 'persistence.*' login > tasks.py
              trestle generate --language typescript --check tasks.ts
              trestle generate --language capacitor --output plugins.js

            EXIT STATUS of --check
              0  the file is as it would be written   1  it is not
            """)

    @OptionGroup var common: CommonOptions
    @ParentCommand var root: Trestle

    @Option(help: ArgumentHelp("typescript, python or capacitor.", valueName: "language"))
    var language: GeneratedModule.Language

    @Option(
        name: [.short, .long],
        help: ArgumentHelp(
            "The file to write; an existing file is replaced. Without it: standard output.", valueName: "file"))
    var output: String?

    @Option(help: ArgumentHelp("Write nothing; check whether this file is up to date.", valueName: "file"))
    var check: String?

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Only these tasks; with * at the end, all tasks with this prefix.", valueName: "pattern"),
        completion: TaskCompletion.tasks)
    var task: [String] = []

    func validate() throws {
        if output != nil, check != nil {
            throw ValidationError("--output writes and --check does not: name one of them")
        }
    }

    func run() async throws {
        try await withClient { client in
            let descriptions = try await client.callPages("bridge.describe", list: "tasks")["tasks"]?.arrayValue ?? []
            let module = GeneratedModule(language: language, daemon: Self.name(of: client.daemon), patterns: task)
            let text = module.text(try TaskChoice(patterns: task).choose(from: descriptions))
            if let check { return try compare(text, with: check) }
            let file = try OutputFile(output ?? "-", overwrites: true, isShared: true)
            defer { file.discard() }
            try file.write(Array(text.utf8))
            try file.finish(overwrites: true)
        }
    }

    private static func name(of daemon: DaemonInfo?) -> String {
        "\(daemon?.name ?? "trestled") \(daemon?.version ?? "of unknown version")"
    }

    private func compare(_ text: String, with path: String) throws {
        guard let line = GeneratedDifference.firstLine(of: try InputFile(path).contents(), against: Array(text.utf8))
        else { return }
        throw OutdatedFile(
            description: "\(path) is out of date from line \(line): use --output instead of --check to write it again")
    }
}

/// An error: the file differs from what would be written.
private struct OutdatedFile: LocalFailure {
    static let code: ErrorCode = "file.outdated"

    let description: String
}

extension GeneratedModule.Language: ExpressibleByArgument {}
