import ArgumentParser
import BridgeClient
import BridgeJSON

/// `trestle fetch`
struct FetchCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Sends an HTTP request and writes the body of the response.",
        discussion: """
            The daemon's plugin Fetch sends the request, and applies its rules. The body is written to standard \
            output. On a terminal, or with --include, status and headers are written to standard error; with --json, \
            the result of http.fetch is written there as one line. The exit status is 0 for any HTTP status, unless \
            --fail is given.

            EXAMPLES
              trestle fetch https://example.org/
              trestle fetch https://example.org/disk.img --output disk.img
              trestle fetch https://example.org/notes --data-json '{"text": "hello"}' | jq .id
              tar c notes | trestle fetch -X PUT https://example.org/notes.tar --data @-
              trestle fetch --head https://example.org/ | jq .status
              trestle fetch --offline https://example.org/

            EXIT STATUS
              0   the whole response was received
              1   it was not, or with --fail, its status is 400 or more
              75, 124  as of trestle: failed, may succeed later; the deadline passed
            """)

    @OptionGroup var common: CommonOptions
    @ParentCommand var root: Trestle

    @Argument(help: "The URL, with http or https.")
    var url: String

    @OptionGroup var request: FetchRequestOptions

    @Flag(
        name: [.customShort("I"), .customLong("head")],
        help: "Request only the headers (HEAD), and write them to standard output.")
    var asksForHead = false

    @Flag(name: .shortAndLong, help: "Show status and headers on standard error, even if it is not a terminal.")
    var include = false

    @Flag(help: "Exit with status 1 and write no body if the HTTP status is 400 or higher.")
    var fail = false

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Write the body to this file, which is created only when complete; - is standard output.",
            valueName: "file"),
        completion: .file())
    var output = "-"

    @Option(
        help: ArgumentHelp(
            "Write requests and responses to this file, as HAR 1.2. Values of header fields with secrets are "
                + "masked, and bodies of requests are omitted.", valueName: "file"),
        completion: .file())
    var har: String?

    @Flag(help: "Replace files that exist.")
    var force = false

    func validate() throws {
        if asksForHead, request.hasBody { throw ValidationError("--head sends no body") }
        if har == "-" { throw ValidationError("--har takes the name of a file") }
        if asksForHead, output != "-" { throw ValidationError("--head and --output exclude each other") }
    }

    func run() async throws {
        let fetch = JSON.object(try request.options(url, asksForHead: asksForHead, wantsHAR: har != nil))
        // Checks the files before the daemon is called.
        if output != "-" { try OutputFile.check(output, force) }
        if let har { try OutputFile.check(har, force) }
        try await withClient { client in
            let line = ProgressLine()
            defer { line.end() }
            let files = try await SentFiles(in: fetch, at: [["body", "stream"]], lengthsAs: "bytes", client)
            try await files.send(line) { fetch in
                // Created before the request, whose response would be lost without them.
                let file = try OutputFile(output, overwrites: force, isShared: true)
                defer { file.discard() }
                // Only its owner can read it, because bodies and URLs may be secret.
                let harFile = try har.map { try OutputFile($0, overwrites: force) }
                defer { harFile?.discard() }
                let response = FetchedResponse(try await result(client, fetch, line))
                line.end()
                let record = FetchedHAR(response.result)
                let taken = await taking(response, record, file, client, line)
                if let harFile { try record.write(to: harFile, overwrites: force) }
                try taken.get()
            }
        }
    }

    private func result(_ client: Bridge, _ fetch: JSON, _ line: ProgressLine) async throws -> JSON {
        // The plugin limits the time of a connection and the time without data.
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
        } catch let error as BridgeError where error.code == .optionsInvalid && error.data?["path"] == "$.cache" {
            guard let policy = request.policy, let expected = error.data?["expected"]?.stringValue else { throw error }
            throw UsageFailure("--policy: expected \(expected); got '\(policy)'")
        }
    }

    private func taking(
        _ response: FetchedResponse, _ record: FetchedHAR, _ file: OutputFile, _ client: Bridge, _ line: ProgressLine
    ) async -> Result<Void, any Error> {
        do { return .success(try await take(response, record, file, client, line)) } catch { return .failure(error) }
    }

    /// Shows the head and writes the body.
    private func take(
        _ response: FetchedResponse, _ record: FetchedHAR, _ file: OutputFile, _ client: Bridge, _ line: ProgressLine
    ) async throws {
        showHead(response)
        if fail, response.isFailure {
            throw RefusedRequest(description: "the server answered \(response.statusText)")
        }
        guard let stream = response.stream else { return }
        let reader = await client.readStream(stream)
        let progress = StreamProgress(line, name: "")
        let look: ([UInt8]) -> Void = har == nil ? { _ in } : { record.note($0) }
        do {
            if file.isStandardOutput, Screen.output.isTerminal {
                try await TerminalBody.write(reader, to: screen, look: look)
            } else {
                try await ReceivedStream.write(reader, to: file, progress, look: look)
                try file.finish(overwrites: force)
            }
        } catch {
            record.end(error)
            throw error
        }
        record.end()
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

/// An error: the status of the response is 400 or more.
private struct RefusedRequest: LocalFailure {
    static let code: ErrorCode = "http.status"

    let description: String
}
