import BridgeClient
import BridgeJSON

/// A stream in the result of a call, whose bytes are written to standard output.
struct ReceivedStream {
    private let path: [String]
    private let name: String

    private static let beginning = "stream:"

    /// Finds the stream of a result; `nil` if it has none.
    ///
    /// - Parameter chosen: The member that the user chose; `nil` if none.
    /// - Throws: ``UsageFailure`` if there is no such member or if there are several streams.
    init?(in result: JSON, of task: String, chosen: String?, _ client: Bridge) async throws {
        if let chosen {
            let path = chosen.split(separator: ".").map(String.init)
            guard let name = result.value(at: path)?.stringValue else {
                throw UsageFailure("the result of \(task) has no member \(chosen) that is a stream")
            }
            (self.path, self.name) = (path, name)
            return
        }
        guard result.hasString(beginningWith: Self.beginning) else { return nil }
        let description = try await client.callJSON("bridge.describe", ["task": .string(task)])
        let paths = StreamSchema(description["result"]).paths.filter { result.value(at: $0)?.stringValue != nil }
        guard let path = paths.first, let name = result.value(at: path)?.stringValue else { return nil }
        guard paths.count == 1 else {
            let names = paths.map { $0.joined(separator: ".") }.sorted().joined(separator: ", ")
            throw UsageFailure("the result has several streams: choose one with --stream (\(names))")
        }
        (self.path, self.name) = (path, name)
    }

    /// Writes the whole stream to standard output.
    ///
    /// - Parameter onTerminal: Whether it may be written to a terminal.
    /// - Throws: ``UsageFailure``, ``FileFailure``; `BridgeError` if it is not complete.
    func write(_ client: Bridge, _ line: ProgressLine, onTerminal: Bool) async throws {
        let reader = await client.readStream(name)
        guard onTerminal || !Screen.output.isTerminal else {
            throw UsageFailure("the result is a stream of bytes: send it to a file (> file), or show it with --raw")
        }
        let output = try OutputFile("-", overwrites: true)
        let progress = StreamProgress(line, name: path.joined(separator: "."))
        try await Self.write(reader, to: output, progress)
        line.end()
    }

    /// Writes a whole stream to a file.
    ///
    /// - Parameter look: Called with the bytes, in order.
    /// - Throws: ``FileFailure``; `BridgeError` if it is not complete.
    static func write(
        _ reader: ByteReader, to output: OutputFile, _ progress: StreamProgress, look: ([UInt8]) -> Void = { _ in }
    ) async throws {
        var count = 0
        for try await bytes in reader {
            look(bytes)
            try output.write(bytes)
            count += bytes.count
            progress.show(count, of: await reader.announcement?.totalBytes)
        }
    }
}
