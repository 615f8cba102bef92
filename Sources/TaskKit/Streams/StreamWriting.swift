internal import Synchronization

/// What is behind a writer: one write after the other. One writer, any thread.
final class StreamWriting: ByteSink {
    private let end: StreamEnd
    private let state: Mutex<(roomBytes: Int, count: Int)>

    /// What goes into one message.
    private static let pieceBytes = 45_000

    /// - Parameter roomBytes: 0: not known, the first answer says it.
    init(_ end: StreamEnd, roomBytes: Int) {
        self.end = end
        state = Mutex((roomBytes, 0))
    }

    func write(_ bytes: [UInt8]) async throws(BridgeError) {
        guard !end.isOver else { throw BridgeError(.streamClosed, "the stream is over") }
        if state.withLock({ $0.roomBytes }) == 0 { try await send([]) }
        var position = 0
        while position < bytes.count {
            let size = min(bytes.count - position, Self.pieceBytes, state.withLock { $0.roomBytes })
            try await send(bytes[position..<position + size])
            position += size
        }
    }

    private func send(_ bytes: ArraySlice<UInt8>) async throws(BridgeError) {
        let result = try await end.call("write", StreamOptions.write(bytes))
        state.withLock { state in
            state.roomBytes = StreamReceipt.roomBytes(result)
            state.count += bytes.count
        }
    }

    func close() async throws(BridgeError) {
        guard !end.isOver else { throw BridgeError(.streamClosed, "the stream is over") }
        let receipt = try await end.call("close", StreamOptions.close(state.withLock { $0.count }))
        end.finish()
        try StreamReceipt.check(receipt)
    }

    var isOwnThread: Bool { end.isOwnThread }

    func leave(_ error: BridgeError) { end.leave(error) }
}
