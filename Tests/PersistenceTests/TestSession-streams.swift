import Foundation
import TaskKit
import TaskKitTesting
import Testing

/// A client's operations on streams, through the daemon's tasks.
extension TestSession {
    /// Returns the next bytes of a stream; `nil` at its end.
    func readPart(_ stream: JSON) async throws -> [UInt8]? {
        let answer = try await call("bridge.stream.read", ["stream": stream])
        if answer["end"] == true { return nil }
        return Array(try #require(answer["base64"]?.stringValue.flatMap { Data(base64Encoded: $0) }))
    }

    /// Returns all bytes of a stream.
    func readAll(_ stream: JSON) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let part = try await readPart(stream) { bytes += part }
        return bytes
    }

    /// Creates a stream that this session writes.
    func makeStream() async throws -> JSON { try #require(try await call("bridge.stream.new")["stream"]) }

    /// Creates a stream and begins to write these bytes to it. Does not wait until they are written.
    func makeStream(of bytes: [UInt8]) async throws -> JSON {
        let stream = try await makeStream()
        _ = await begin(
            "bridge.stream.write",
            ["stream": stream, "base64": .string(Data(bytes).base64EncodedString()), "end": true])
        return stream
    }
}
