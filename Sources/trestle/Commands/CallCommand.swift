import ArgumentParser
import BridgeClient
import BridgeJSON

/// `trestle call`
struct CallCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "call",
        abstract: "Calls a task and shows its result.",
        discussion: """
            Options are one JSON value, or key=value pairs. A value that is valid JSON is used as JSON, any other \
            value as a string; a.b=1 sets a member of a member. SIGINT cancels the call; --timeout is its deadline.

            If the task's schema declares an option as a stream, key=@file sends a file, and key=@- sends standard \
            input. A result that is a stream, or contains one, is written to standard output.

            EXAMPLES
              trestle call Echo '{"a": [1, 2]}'
              trestle call persistence.query table=notes where.done=false limit=10
              trestle call Alert content='Shall I?' kind=confirm --timeout 30
              jq .record note.json | trestle call persistence.create -
              trestle call login.status --raw
              trestle call photos.add photo=@picture.png
              trestle call files.read path=notes.txt > notes.txt
            """)

    @OptionGroup var common: CommonOptions
    @ParentCommand var root: Trestle

    @OptionGroup var arguments: TaskArguments

    @Flag(help: "Show intermediate results on standard error as they arrive.")
    var progress = false

    @Flag(help: "Show a result that is a string without quotes, anything else as one line of JSON.")
    var raw = false

    @Option(
        help: ArgumentHelp(
            "The member of the result whose stream is written to standard output.", valueName: "member"))
    var stream: String?

    @Flag(
        name: .customLong("result"),
        help: "Show the result on standard error if its stream is written to standard output.")
    var showsResult = false

    func run() async throws {
        let options = try arguments.json()
        // The daemon ends the call at its deadline and reports the cause.
        var common = self.options
        let timeout = common.timeout
        common.timeout = nil
        try await common.run { client in
            let line = ProgressLine()
            let files = try await SentFiles(in: options, of: arguments.task, client)
            try await files.send(line) { options in
                try await take(try await result(client, options, timeout), client, line)
            }
        }
    }

    /// Shows the result, or writes its stream.
    private func take(_ result: JSON, _ client: Bridge, _ line: ProgressLine) async throws {
        guard let received = try await ReceivedStream(in: result, of: arguments.task, chosen: stream, client) else {
            return show(result)
        }
        if showsResult { Screen.error.write(line: result) }
        try await received.write(client, line, onTerminal: raw)
    }

    private func result(_ client: Bridge, _ options: JSON, _ timeout: TimeLimit?) async throws -> JSON {
        let limit = timeout?.duration
        let (task, session) = (arguments.task, arguments.session)
        guard progress else { return try await client.callJSON(task, options, session: session, timeout: limit) }
        let stream = try await client.callJSONWithProgress(task, options, session: session, timeout: limit)
        for await value in stream { Screen.error.write(line: value) }
        return try await stream.result
    }

    private func show(_ result: JSON) {
        switch result {
        case .string(let text) where raw: screen.write(foreign: text + "\n")
        case _ where raw: screen.write(line: result)
        default: screen.show(result)
        }
    }
}
