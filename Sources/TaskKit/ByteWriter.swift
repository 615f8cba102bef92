internal import Synchronization

/// Writes the bytes of a stream, from one Swift task at a time. See `Call.makeStream`.
public struct ByteWriter: ~Copyable, Sendable {
    private let writing: StreamWriting

    init(_ writing: StreamWriting) { self.writing = writing }

    /// Writes all of these bytes. Waits while the reader is behind.
    ///
    /// - Throws: `stream.closed` where the reader is gone, or wants no more.
    public func write(_ bytes: [UInt8]) async throws(BridgeError) { try await writing.write(bytes) }
}

/// What is behind a writer: one write after the other.
final class StreamWriting: Sendable {
    private let end: StreamEnd
    private let room: Mutex<(roomBytes: Int, count: Int)>

    /// What goes into one message.
    private static let pieceBytes = 45_000

    init(_ end: StreamEnd, roomBytes: Int) {
        self.end = end
        room = Mutex((roomBytes, 0))
    }

    func write(_ bytes: [UInt8]) async throws(BridgeError) {
        guard !end.isOver else { throw BridgeError(.streamClosed, "the stream is over") }
        if room.withLock({ $0.roomBytes }) == 0 { try await send([]) }
        var position = 0
        while position < bytes.count {
            let size = min(bytes.count - position, Self.pieceBytes, room.withLock { $0.roomBytes })
            try await send(bytes[position..<position + size])
            position += size
        }
    }

    private func send(_ bytes: ArraySlice<UInt8>) async throws(BridgeError) {
        var text: [UInt8] = []
        bytes.withUnsafeBytes { Base64Coding.encode($0, to: &text) }
        let answer = try await end.call("write", ["base64": .string(String(decoding: text, as: UTF8.self))])
        room.withLock { state in
            state.roomBytes = Int(clamping: answer["room"]?.int64Value ?? 0)
            state.count += bytes.count
        }
    }

    /// Has `body` write the stream, and ends it: complete where `body` returns, with an error where it throws.
    ///
    /// - Returns: why it is not complete; nil: the reader has every byte.
    func run(_ body: @Sendable (borrowing ByteWriter) async throws -> Void) async -> (any Error)? {
        do {
            try await body(ByteWriter(self))
            return try await close()
        } catch {
            end.leave(error as? BridgeError ?? BridgeError(.internal, "the writer failed: \(error)"))
            return error
        }
    }

    private func close() async throws(BridgeError) -> (any Error)? {
        let count = room.withLock { $0.count }
        let receipt = try await end.call("close", ["bytes": .number(JSONNumber(count))])
        end.finish()
        guard receipt["complete"] != true else { return nil }
        return BridgeError(.streamClosed, "the reader does not have every byte", data: receipt)
    }
}
