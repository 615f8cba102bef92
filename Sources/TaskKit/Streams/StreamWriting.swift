internal import CTaskPlugin
internal import Synchronization

/// What is behind a writer: a pipe, where the daemon can pass one and it is worth it, else messages, one after the
/// other. One writer, any thread.
final class StreamWriting: ByteSink {
    /// What one write to a pipe takes at most, and one message.
    private static let pieceBytes = 64 << 10

    private struct State {
        /// Whether the end has been taken.
        var hasBegun = false
        /// How many bytes may be unanswered; 0: not known, the first answer says it.
        var roomBytes: Int
        var count: UInt64 = 0
        var pipe: PluginPipe?
        /// Of a pipe, the write of no bytes, which is answered when the reader has left.
        var leaving: PendingStreamCall?
        /// That it was.
        var isUnread = false
        /// Called then, while the pipe is borrowed.
        var onLeave: (@Sendable () -> Void)?
    }

    private let end: StreamEnd
    private let bell: Bell
    private let state: Mutex<State>
    /// Whether fewer bytes will come than a pipe is worth.
    private let isShort: Bool

    /// - Parameters:
    ///   - roomBytes: 0: not known, the first answer says it.
    ///   - totalBytes: How many bytes there will be; nil: not known.
    ///   - pipe: The end, where it is one from the beginning.
    init(_ end: StreamEnd, roomBytes: Int, totalBytes: Int? = nil, _ pipe: PluginPipe? = nil) {
        self.end = end
        bell = Bell(end.runtime.host)
        state = Mutex(State(hasBegun: pipe != nil, roomBytes: roomBytes))
        isShort = !Self.isWorthPipe(totalBytes)
        if let pipe { attach(pipe, end.begin(.write([]))) }
    }

    /// Whether so many bytes are worth a pipe; nil: their number is not known.
    static func isWorthPipe(_ totalBytes: Int?) -> Bool { totalBytes.map { $0 >= pieceBytes } ?? true }

    func write(_ bytes: [UInt8]) async throws(BridgeError) {
        guard !end.isOver else { throw BridgeError(.streamClosed, "the stream is over") }
        try await begin()
        var position = 0
        while position < bytes.count {
            let piece = bytes[position...].prefix(Self.pieceBytes)
            let (pipe, roomBytes) = state.withLock { ($0.pipe, $0.roomBytes) }
            if let pipe {
                position += try await write(piece, to: pipe)
            } else {
                position += try await send(piece.prefix(roomBytes))
            }
        }
    }

    func lendPipe(
        onLeave: @escaping @Sendable () -> Void, to body: (Int32) async -> Int
    ) async throws(BridgeError) {
        guard !end.isOver else { throw BridgeError(.streamClosed, "the stream is over") }
        try await begin()
        let pipe = state.withLock { state -> PluginPipe? in
            // The next write says why the reader has left.
            guard !state.isUnread else { return nil }
            state.onLeave = onLeave
            return state.pipe
        }
        let count = await pipe?.lend(to: body) ?? 0
        state.withLock { state in
            state.onLeave = nil
            state.count += UInt64(count)
        }
    }

    /// Takes the end, where that has not been done.
    private func begin() async throws(BridgeError) {
        let isFirst = state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
        guard isFirst else { return }
        guard !isShort else {
            if state.withLock({ $0.roomBytes }) == 0 { _ = try await send([]) }
            return
        }
        let (attaching, first) = end.take(.write([]))
        if case .success(let answer) = await end.outcome(of: attaching), let pipe = answer.pipe {
            return attach(pipe, first)
        }
        // It says the room, or why there is no such stream.
        try await take(first, 0)
    }

    // MARK: A pipe

    private func attach(_ pipe: PluginPipe, _ leaving: PendingStreamCall) {
        state.withLock { state in
            state.pipe = pipe
            state.leaving = leaving
        }
        // Ends with the stream.
        Task(executorPreference: end.runtime.executor) { [weak self] in
            _ = await leaving.value
            self?.noteUnread()
        }
    }

    private func noteUnread() {
        let onLeave = state.withLock { state in
            state.isUnread = true
            return state.onLeave.take()
        }
        onLeave?()
        bell.ring()
    }

    /// Writes some of these bytes; waits where none fits.
    private func write(_ bytes: ArraySlice<UInt8>, to pipe: PluginPipe) async throws(BridgeError) -> Int {
        guard !state.withLock({ $0.isUnread }), let count = pipe.write(bytes) else {
            pipe.close()
            throw await whyUnread()
        }
        state.withLock { $0.count += UInt64(count) }
        if count == 0 {
            try await wait(pipe)
        } else {
            // The loop serves others between any two writes.
            await Task.yield()
        }
        return count
    }

    private func wait(_ pipe: PluginPipe) async throws(BridgeError) {
        pipe.ring(bell, when: TRESTLE_WATCH_WRITABLE, end.runtime)
        do {
            try await bell.wait()
        } catch {
            let error = BridgeError(.callCancelled, "the Swift task that wrote the stream was cancelled")
            leave(error)
            throw error
        }
    }

    /// The reader has closed its pipe: the daemon says why.
    private func whyUnread() async -> BridgeError {
        if let leaving = state.withLock({ $0.leaving }), case .failure(let error) = await end.outcome(of: leaving) {
            end.finish()
            return error
        }
        return BridgeError(.streamClosed, "the reader has closed the stream")
    }

    // MARK: Messages

    /// Writes these bytes, and waits for room.
    private func send(_ bytes: ArraySlice<UInt8>) async throws(BridgeError) -> Int {
        try await take(end.begin(.write(bytes)), bytes.count)
    }

    /// Waits for the answer to a write.
    @discardableResult
    private func take(_ call: PendingStreamCall, _ count: Int) async throws(BridgeError) -> Int {
        let answer = try await end.answer(to: call)
        state.withLock { state in
            state.roomBytes = answer.roomBytes
            state.count += UInt64(count)
        }
        return count
    }

    // MARK: The end

    func close() async throws(BridgeError) {
        guard !end.isOver else { throw BridgeError(.streamClosed, "the stream is over") }
        let (pipe, count) = state.withLock { ($0.pipe, $0.count) }
        pipe?.close()
        switch await end.outcome(of: end.begin(.close(bytes: count, nil))) {
        case .success(let answer):
            end.finish()
            try answer.receipt.check()
        // The stream is forgotten once the reader has left.
        case .failure(let error) where pipe != nil && error.code == .streamNotFound: throw await whyUnread()
        case .failure(let error):
            if error.code == .callCancelled { end.leave(error) }
            end.finish()
            throw error
        }
    }

    var isOwnThread: Bool { end.isOwnThread }

    func leave(_ error: BridgeError) {
        state.withLock { $0.pipe }?.close()
        end.leave(error)
    }
}
