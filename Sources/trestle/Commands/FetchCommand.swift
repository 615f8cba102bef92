import ArgumentParser
import BridgeClient
import BridgeJSON

/// `trestle fetch`
struct FetchCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Sends an HTTP request and writes the body of the response.",
        discussion: """
            The daemon sends the request, by the rules of its plugin Fetch. The body goes to standard output. Status \
            and headers go to standard error, on a terminal or with --include; with --json they are the result of \
            http.fetch in one line. A response is a success, whatever its status; --fail changes that.

            EXAMPLES
              trestle fetch https://example.org/
              trestle fetch https://example.org/disk.img --output disk.img
              trestle fetch https://example.org/notes --data-json '{"text": "hello"}' | jq .id
              tar c notes | trestle fetch -X PUT https://example.org/notes.tar --data @-
              trestle fetch --head https://example.org/ | jq .status
              trestle fetch --offline https://example.org/

            EXIT STATUS
              0  a response came, and all of its body   1  none came, or --fail and its status is 400 or more
            """)

    @OptionGroup var common: CommonOptions
    @ParentCommand var root: Trestle

    @Argument(help: "The URL, with http or https.")
    var url: String

    @OptionGroup var request: FetchRequestOptions

    @Flag(
        name: [.customShort("I"), .customLong("head")],
        help: "Ask for the head alone (HEAD), and write that to standard output.")
    var asksForHead = false

    @Flag(name: .shortAndLong, help: "Show status and headers on standard error where that is no terminal, too.")
    var include = false

    @Flag(help: "End with 1, and write no body, where the status is 400 or more.")
    var fail = false

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Write the body to this file, which appears complete or not at all; - is standard output.",
            valueName: "file"),
        completion: .file())
    var output = "-"

    @Flag(help: "Replace a file that exists.")
    var force = false

    func validate() throws {
        if asksForHead, request.hasBody { throw ValidationError("--head sends no body") }
        if asksForHead, output != "-" { throw ValidationError("--head and --output exclude each other") }
    }

    func run() async throws {
        let fetch = JSON.object(try request.options(url, asksForHead: asksForHead))
        // Before a request is sent that would be for nothing.
        if output != "-" { try OutputFile.check(output, force) }
        try await withClient { client in
            let line = ProgressLine()
            defer { line.end() }
            let files = try await SentFiles(in: fetch, at: [["body", "stream"]], lengthsAs: "bytes", client)
            try await files.send(line) { fetch in
                let response = FetchedResponse(try await result(client, fetch, line))
                line.end()
                try await take(response, client, line)
            }
        }
    }

    private func result(_ client: Bridge, _ fetch: JSON, _ line: ProgressLine) async throws -> JSON {
        // The plugin bounds how long a connection takes, and how long nothing comes.
        let limit = options.timeout.map { Timeout.after($0.duration) } ?? .unlimited
        do {
            let call: CallProgress<JSON, JSON> =
                try await client.callWithProgress(FetchedResponse.task, fetch, timeout: limit)
            return try await line.waiting(for: "waiting for the response …") {
                for await progress in call { line.show(FetchedResponse.progressText(progress)) }
                return try await call.result
            }
        } catch let error as BridgeError where error.code == .taskNotFound {
            throw MissingPlugin.error("fetch", that: "sends requests", error)
        }
    }

    /// Shows the head, and writes the body.
    private func take(_ response: FetchedResponse, _ client: Bridge, _ line: ProgressLine) async throws {
        showHead(response)
        if fail, response.isFailure {
            Failure.complain("the server answered \(response.statusText)")
            throw Failure.call
        }
        guard let stream = response.stream else { return }
        let reader = await client.readStream(stream)
        let progress = StreamProgress(line, name: "")
        let file = try OutputFile(output, overwrites: force, isShared: true)
        defer { file.discard() }
        if file.isStandardOutput, Screen.output.isTerminal {
            try await TerminalBody.write(reader, to: screen)
        } else {
            try await ReceivedStream.write(reader, to: file, progress)
            try file.finish(overwrites: force)
        }
        line.end()
    }

    private func showHead(_ response: FetchedResponse) {
        let target = asksForHead ? Screen.output : Screen.error
        let screen = target.showing(options.form)
        if options.form.json || asksForHead && !screen.isForPeople { return screen.write(line: response.head) }
        guard asksForHead || include || screen.isTerminal && !options.quiet else { return }
        screen.write(response.text(colour: screen.hasColour))
    }
}
