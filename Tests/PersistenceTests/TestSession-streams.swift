import Foundation
import TaskKit
import TaskKitTesting
import Testing

/// What a client does about streams, by the daemon's tasks.
extension TestSession {
    /// The next bytes of a stream; nil: these were all.
    func readPart(_ stream: JSON) async throws -> [UInt8]? {
        let answer = try await call("bridge.stream.read", ["stream": stream])
        if answer["end"] == true { return nil }
        return Array(try #require(answer["base64"]?.stringValue.flatMap { Data(base64Encoded: $0) }))
    }

    /// All bytes of a stream.
    func readAll(_ stream: JSON) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let part = try await readPart(stream) { bytes += part }
        return bytes
    }

    /// A stream that this session writes.
    func makeStream() async throws -> JSON { try #require(try await call("bridge.stream.new")["stream"]) }

    /// A stream of these bytes, as many as its window takes.
    func makeStream(of bytes: [UInt8]) async throws -> JSON {
        let stream = try await makeStream()
        _ = await begin(
            "bridge.stream.write",
            ["stream": stream, "base64": .string(Data(bytes).base64EncodedString()), "end": true])
        return stream
    }
}
