import ByteStreams
import TaskKit

/// The streams of a test's client, implemented with its calls. Any thread.
struct TestStreams: Sendable {
    let call: @Sendable (_ task: String, _ options: JSON) async throws -> JSON

    /// The maximum number of bytes in one message.
    private static let pieceBytes = 24_000

    /// Makes a stream; its bytes are written while the test continues.
    func make(_ bytes: [UInt8], type: String?) async throws -> TestStream {
        let options = StreamOptions.new(type: type, totalBytes: bytes.count, attaches: false)
        let made = try MadeStream(try await call("bridge.stream.new", .object(options)))
        return TestStream(name: made.name, writing: Task { try await write(bytes, to: made) })
    }

    private func write(_ bytes: [UInt8], to made: MadeStream) async throws {
        var room = made.roomBytes
        var position = 0
        while position < bytes.count {
            let piece = bytes[position...].prefix(min(room, Self.pieceBytes))
            room = StreamAnswer.roomBytes(try await send("write", StreamOptions.write(piece), made.name))
            position += piece.count
        }
        try StreamReceipt(try await send("close", StreamOptions.close(bytes.count), made.name)).check()
    }

    /// Reads a stream to its end.
    func read(_ name: String) async throws -> [UInt8] {
        var (read, bytes) = (ReadBytes(), [UInt8]())
        while let chunk = try read.take(StreamChunk(try await send("read", [:], name))) { bytes += chunk }
        return bytes
    }

    private func send(_ task: String, _ options: JSONObject, _ name: String) async throws -> JSON {
        var options = options
        options["stream"] = .string(name)
        return try await call("bridge.stream.\(task)", .object(options))
    }
}

/// A stream that a test has created.
public struct TestStream: Sendable {
    /// The stream's name, for the options of a call.
    public let name: String
    let writing: Task<Void, any Error>

    /// Waits until the reader has every byte.
    ///
    /// - Throws: `stream.closed` if the reader does not have them.
    public func written() async throws { try await writing.value }
}

extension TestSession {
    /// Makes a stream of these bytes for a task to read. They are written while the test continues.
    ///
    /// - Throws: A `BridgeError` if the stream cannot be made.
    public func makeStream(_ bytes: [UInt8], type: String? = nil) async throws -> TestStream {
        try await streams.make(bytes, type: type)
    }

    /// Reads a stream that a task writes, to its end.
    ///
    /// - Throws: `stream.closed` if the stream is not complete.
    public func readStream(_ name: String) async throws -> [UInt8] { try await streams.read(name) }

    private var streams: TestStreams { TestStreams { task, options in try await self.call(task, options) } }
}

extension PluginSession {
    /// Makes a stream of these bytes for a task to read. They are written while the test continues.
    ///
    /// - Throws: A `BridgeError` if the stream cannot be made.
    public func makeStream(_ bytes: [UInt8], type: String? = nil) async throws -> TestStream {
        try await streams.make(bytes, type: type)
    }

    /// Reads a stream that a task writes, to its end.
    ///
    /// - Throws: `stream.closed` if the stream is not complete.
    public func readStream(_ name: String) async throws -> [UInt8] { try await streams.read(name) }

    private var streams: TestStreams { TestStreams { task, options in try await self.call(task, options) } }
}

extension PluginBridge {
    /// Makes a stream of these bytes for a task to read. They are written while the test continues.
    ///
    /// - Throws: A `BridgeError` if the stream cannot be made.
    public func makeStream(_ bytes: [UInt8], type: String? = nil) async throws -> TestStream {
        try await streams.make(bytes, type: type)
    }

    /// Reads a stream that a task writes, to its end.
    ///
    /// - Throws: `stream.closed` if the stream is not complete.
    public func readStream(_ name: String) async throws -> [UInt8] { try await streams.read(name) }

    private var streams: TestStreams { TestStreams { task, options in try await self.call(task, options) } }
}
