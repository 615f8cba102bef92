import ArgumentParser
import BridgeClient
import BridgeJSON

/// `trestle replay`
struct ReplayCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Sends the calls of a recording again, and shows those that end differently.",
        discussion: """
            Opens one connection for each recorded session. A call is sent when all calls have ended that had ended \
            before it in the recording. Calls whose options contain secrets or were cut, calls with streams, and \
            cancelled calls are not sent. Results are compared member by member, except numbers in members whose names \
            end in At, Ms, Us or Ns, which are times. Of errors, the code and the data are compared. Of the daemon's \
            own tasks, only success or the error is compared. In a pipe, or with --json, the command writes one line \
            of JSON for each difference, one for each call that is not sent, and one with the totals.

            The calls have their usual effects: use a daemon whose state may change.

            EXAMPLES
              trestle --socket /tmp/test/bridge.sock replay bug.jsonl
              trestle replay bug.jsonl --speed 1
              trestle replay notes.jsonl --ignore '$.version' --ignore '$.records[*].version' | jq .differences

            EXIT STATUS
              0  all are the same   1  something differs, or it failed
            """)

    @OptionGroup var common: CommonOptions
    @ParentCommand var root: Trestle

    @Argument(help: "The recording; - is standard input.", completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp(
            "Replay at the recorded pace, or this many times faster. Without it: as fast as answers arrive.",
            valueName: "factor")
    )
    var speed: Double?

    @Option(
        help: ArgumentHelp(
            "A path that is not compared, such as $.version, $.records[*].key, error.data. May be repeated.",
            valueName: "path"))
    var ignore: [String] = []

    func validate() throws {
        if let speed, !(speed.isFinite && speed > 0) {
            throw ValidationError("--speed: expected a number above 0; got \(speed)")
        }
        for path in ignore where IgnoredPath(path) == nil {
            throw ValidationError("--ignore: expected a path such as $.records[*].key or error.data; got \(path)")
        }
    }

    func run() async throws {
        let recording = try read()
        try await withClient { client in
            let tasks = try await client.callPages("bridge.tasks", list: "tasks")["tasks"]?.arrayValue ?? []
            let plan = ReplayPlan(recording, provided: Set(tasks.compactMap { $0["name"]?.stringValue }))
            let run = ReplayRun(
                plan: plan, socketPath: socketPath, ignored: ignore.compactMap(IgnoredPath.init), speed: speed)
            let screen = screen
            var report = ReplayReport(file: file, isForPeople: screen.isForPeople) { screen.write($0) }
            for call in plan.skipped { report.add(call) }
            try await run.run { report.add($0, $1) }
            report.finish(recording)
            if report.different > 0 { throw Failure.call }
        }
    }

    private func read() throws -> Recording {
        do {
            let bytes = try InputFile(file).contents()
            return try RecordingReader.read(bytes, file: file == "-" ? "standard input" : file)
        } catch let code as ExitCode {
            throw code
        } catch {
            throw Failure.report(error, asJSON: options.form.json)
        }
    }
}
