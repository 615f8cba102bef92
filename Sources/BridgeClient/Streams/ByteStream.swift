public import BridgeJSON
import EventLoop

/// A stream that this end writes. Options or a result carry its name to the reader.
public final class ByteStream: Sendable {
    /// The stream's name.
    public let name: String
    private let writing: StreamWriting

    init(_ name: String, _ writing: StreamWriting) {
        self.name = name
        self.writing = writing
    }

    deinit {
        // Does nothing where it was written.
        EventLoop.post { [writing] in writing.leave(.neverWritten) }
    }

    /// Writes the stream, once. It is complete where `body` returns and the reader has every byte; where `body` throws,
    /// it ends with an error.
    ///
    /// - Parameters:
    ///   - isolation: Where `body` runs: where the caller does.
    ///   - body: Writes the bytes. Its writer is not to be used after it has returned.
    /// - Throws: `stream.closed` where the reader does not have every byte; `stream.unclaimed` where nobody reads it;
    ///   what `body` throws.
    public func write(
        isolation: isolated (any Actor)? = #isolation, _ body: (borrowing ByteWriter) async throws -> Void
    ) async throws {
        do {
            try await body(ByteWriter(writing))
        } catch {
            await writing.leave(error as? BridgeError ?? BridgeError(.internal, "the writer failed: \(error)"))
            throw error
        }
        try await writing.close()
    }
}

/// Writes the bytes of a stream, from one Swift task at a time.
public struct ByteWriter: ~Copyable, Sendable {
    private let writing: StreamWriting

    init(_ writing: StreamWriting) { self.writing = writing }

    /// Writes all of these bytes. Waits while the reader is behind.
    ///
    /// - Throws: `stream.closed` where the reader is gone, or wants no more.
    public func write(_ bytes: [UInt8]) async throws(BridgeError) { try await writing.write(bytes) }
}

/// What is behind a writer.
@LoopActor
final class StreamWriting {
    private let end: StreamEnd
    private var room: StreamRoom
    private var unanswered: [(call: CallInFlight, bytes: Int)] = []
    private var count = 0

    init(_ end: StreamEnd, roomBytes: Int) {
        self.end = end
        room = StreamRoom(bytes: roomBytes)
    }

    func write(_ bytes: [UInt8]) async throws(BridgeError) {
        guard !end.isOver else { throw BridgeError(.streamClosed, "the stream is over") }
        if room.isUnknown {
            try await send([])
            try await takeAnswer()
        }
        var position = 0
        while position < bytes.count {
            let size = room.size(of: bytes.count - position)
            guard size > 0 else {
                try await takeAnswer()
                continue
            }
            try await send(bytes[position..<position + size])
            position += size
        }
        while let first = unanswered.first, first.call.outcome != nil { try await takeAnswer() }
    }

    private func send(_ bytes: ArraySlice<UInt8>) async throws(BridgeError) {
        var text: [UInt8] = []
        bytes.withUnsafeBytes { Base64Coding.encode($0, to: &text) }
        let call = try await end.begin("write", ["base64": .string(String(decoding: text, as: UTF8.self))])
        unanswered.append((call, bytes.count))
        room.noteSent(bytes.count)
        count += bytes.count
    }

    private func takeAnswer() async throws(BridgeError) {
        guard let first = unanswered.first else { return }
        let answer = try await end.result(of: first.call)
        unanswered.removeFirst()
        room.noteAnswer(of: first.bytes, roomBytes: Int(clamping: answer["room"]?.int64Value ?? 0))
    }

    /// Waits until the reader has every byte.
    func close() async throws(BridgeError) {
        guard !end.isOver else { throw BridgeError(.streamClosed, "the stream is over") }
        let call = try await end.begin("close", ["bytes": .number(JSONNumber(count))])
        let receipt = try await end.result(of: call)
        end.finish()
        guard receipt["complete"] != true else { return }
        throw Self.incomplete(receipt)
    }

    private static func incomplete(_ receipt: JSON) -> BridgeError {
        let given = receipt["error"].flatMap { BridgeError(json: $0) }
        let (by, bytes) = (receipt["by"] ?? "daemon", receipt["bytes"] ?? 0)
        var data: JSONObject = ["by": by, "bytes": bytes]
        data["error"] = given?.json
        let reason = given.map { ": \($0.message)" } ?? ""
        return BridgeError(
            .streamClosed,
            "the \(by.stringValue ?? "daemon") ended the stream after \(bytes.text) bytes, before it was complete"
                + reason,
            data: .object(data), isTransient: given?.isTransient ?? false)
    }

    /// Ends the stream, where it is not over, with an error for the reader.
    func leave(_ error: BridgeError) { end.leave(error) }
}

extension BridgeError {
    /// What the reader gets of a stream that its maker let go.
    fileprivate static let neverWritten = BridgeError(.internal, "the writer let the stream go before it was written")
}
