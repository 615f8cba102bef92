import ArgumentParser
import BridgeClient
import BridgeJSON

/// `trestle record`
struct RecordCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Records the traffic of the bridge in a file, until it is interrupted.",
        discussion: """
            Writes the lines of JSON that trestle monitor shows, each with the time since the beginning. Secrets are \
            masked in the same way, streams are omitted, and payloads of more than 256 KiB are cut. trestle replay \
            sends the calls again. Only the file's owner can read it. The file appears when the recording ends: at \
            SIGINT, at SIGTERM, after --for, or when the daemon ends. Requires the \
            permission bridge.admin, which root and the daemon's user have.

            EXAMPLES
              trestle record bug.jsonl
              trestle record --for 30s --task 'persistence.*' notes.jsonl
              trestle record - | jq 'select(.durationUs > 1000)'
            """)

    /// The maximum size of a payload that a daemon shows.
    private static let payloadBytes = 256 << 10

    @OptionGroup var common: CommonOptions
    @ParentCommand var root: Trestle
    @OptionGroup var choice: TrafficChoice

    @Argument(help: "The file to write; - is standard output.", completion: .file())
    var file: String

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "The duration: seconds, or a number with the unit ms, s, m or h. Without it: until it is interrupted.",
            valueName: "duration"))
    var duration: TimeLimit?

    @Flag(help: "Replace a file that exists.") var force = false

    func run() async throws {
        try await withClient { client in
            let writer = try RecordingWriter(file, overwrites: force)
            let result = await Result.catching {
                try await writer.begin(daemon: client.daemon, filter: choice.options)
                let run = RecordingRun(
                    client: client, filter: choice.options(payloadBytes: Self.payloadBytes),
                    duration: duration?.duration, writer: writer)
                try await run.run(ProgressLine())
            }
            await writer.discard()
            if file != "-", await writer.isFinished { screen.show(report: await writer.summary) }
            try result.get()
        }
    }
}
