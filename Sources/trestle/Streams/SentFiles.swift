import BridgeClient
import BridgeJSON

/// Files whose bytes a call receives as streams: `photo=@picture.png`, if `photo` is a stream by the task's schema.
struct SentFiles {
    private struct Sent {
        let path: [String]
        let file: InputFile
        let stream: ByteStream
    }

    /// The options, with stream names in place of file names.
    private(set) var options: JSON
    private var files: [Sent] = []

    private static let mark = "@"
    private static let chunkBytes = 256 << 10

    /// Opens the files that are streams by the task's schema, and creates the streams.
    ///
    /// - Throws: ``FileFailure``, ``UsageFailure``, `BridgeError`.
    init(in options: JSON, of task: String, _ client: Bridge) async throws {
        var paths: [[String]] = []
        if options.hasString(beginningWith: Self.mark) {
            let description = try await client.callJSON("bridge.describe", ["task": .string(task)])
            paths = StreamSchema(description["options"]).paths
        }
        try await self.init(in: options, at: paths, client)
    }

    /// Opens the files at these paths in the options, and creates their streams.
    ///
    /// - Parameter member: The member beside a stream that receives the file's size in bytes, if it is known; `nil` for
    ///   none.
    /// - Throws: ``FileFailure``, ``UsageFailure``, `BridgeError`.
    init(in options: JSON, at paths: [[String]], lengthsAs member: String? = nil, _ client: Bridge) async throws {
        self.options = options
        for path in paths {
            guard let name = options.value(at: path)?.stringValue, name.hasPrefix(Self.mark) else { continue }
            let file = try InputFile(String(name.dropFirst(Self.mark.count)))
            let stream = try await client.makeStream(totalBytes: file.length.map { Int(clamping: $0) })
            files.append(Sent(path: path, file: file, stream: stream))
            self.options = self.options.replacing(path[...], by: .string(stream.name))
            guard let member, let length = file.length else { continue }
            var siblings = self.options.value(at: path.dropLast())?.objectValue ?? [:]
            siblings[member] = .number(JSONNumber(length))
            self.options = self.options.replacing(path.dropLast(), by: .object(siblings))
        }
    }

    /// Sends the files while `call` makes the call and reads its answer, because a task may answer with a stream before
    /// it has read all of its input. If one of them fails, the others are cancelled.
    ///
    /// - Parameter progress: Shows the progress.
    func send(_ progress: ProgressLine, while call: @escaping @Sendable (JSON) async throws -> Void) async throws {
        guard !files.isEmpty else { return try await call(options) }
        let options = options
        try await withThrowingTaskGroup(of: Void.self) { group in
            for sent in files { group.addTask { try await Self.send(sent, progress) } }
            group.addTask { try await call(options) }
            // Not `waitForAll`, which would wait for the others after a failure.
            while try await group.next() != nil {}
        }
        progress.end()
    }

    private static func send(_ sent: Sent, _ line: ProgressLine) async throws {
        let progress = StreamProgress(line, name: sent.path.joined(separator: "."))
        let total = sent.file.length.map { Int(clamping: $0) }
        do {
            try await sent.stream.write { out in
                var count = 0
                while case let bytes = try sent.file.read(count: chunkBytes), !bytes.isEmpty {
                    try await out.write(bytes)
                    count += bytes.count
                    progress.show(count, of: total)
                }
            }
        } catch let error as BridgeError where error.code == .streamClosed && error.data?["by"] == "reader" {
            // The task needs no more data; its result reports the consequence.
        }
    }
}
