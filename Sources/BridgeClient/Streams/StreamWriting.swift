import BridgeJSON
import EventLoop

/// The sink of a writer: a pipe if the daemon can pass one, else messages, several of which are in flight at the same
/// time.
@LoopActor
final class StreamWriting: ByteSink {
    /// The length below which a stream is sent in messages, if its length is known: a pipe would cost more than it
    /// saves.
    private nonisolated static let shortBytes = 64 << 10

    private let end: StreamEnd
    private var pipe: PipeWriting?
    private var usesMessages: Bool
    private var room: StreamRoom
    private var unanswered: [(call: CallInFlight, bytes: Int)] = []
    private var count = 0

    /// - Parameter totalBytes: The total number of bytes; `nil` if unknown.
    nonisolated init(_ end: StreamEnd, roomBytes: Int, messageBytes: Int, _ totalBytes: Int?) {
        self.end = end
        usesMessages = !Self.isWorthPipe(totalBytes)
        room = StreamRoom(bytes: roomBytes, messageBytes: messageBytes)
    }

    /// Whether this number of bytes is worth a pipe; `nil` for an unknown number.
    nonisolated static func isWorthPipe(_ totalBytes: Int?) -> Bool { totalBytes.map { $0 >= shortBytes } ?? true }

    /// Uses this pipe, with which the stream was created.
    func use(_ pipe: PipeEnd) { self.pipe = PipeWriting(end, pipe) }

    func write(_ bytes: [UInt8]) async throws(BridgeError) {
        if let pipe { return try await pipe.write(bytes) }
        guard !end.isOver else { throw BridgeError(.streamClosed, "the stream has ended") }
        if !usesMessages { try await attach() }
        if let pipe { return try await pipe.write(bytes) }
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

    private func attach() async throws(BridgeError) {
        guard let attached = try await end.attached(by: try await end.beginAttaching()) else {
            return usesMessages = true
        }
        use(attached.pipe)
    }

    private func send(_ bytes: ArraySlice<UInt8>) async throws(BridgeError) {
        let call = try await end.begin("write", StreamOptions.write(bytes))
        unanswered.append((call, bytes.count))
        room.noteSent(bytes.count)
        count += bytes.count
    }

    private func takeAnswer() async throws(BridgeError) {
        guard let first = unanswered.first else { return }
        let result = try await end.result(of: first.call)
        unanswered.removeFirst()
        room.noteAnswer(of: first.bytes, roomBytes: StreamAnswer.roomBytes(result))
    }

    func close() async throws(BridgeError) {
        if let pipe { return try await pipe.close() }
        guard !end.isOver else { throw BridgeError(.streamClosed, "the stream has ended") }
        try await end.close(count)
    }

    nonisolated var isOwnThread: Bool { LoopActor.isOnLoopThread }

    nonisolated func leave(_ error: BridgeError) {
        EventLoop.post { [self] in if let pipe { pipe.leave(error) } else { end.leave(error) } }
    }
}
