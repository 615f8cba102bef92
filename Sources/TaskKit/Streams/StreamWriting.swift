internal import CTaskPlugin
internal import Synchronization

/// The destination of a writer: a pipe if the daemon can provide one and the stream is long enough for it, otherwise
/// messages, one after the other. One writer, any thread.
final class StreamWriting: ByteSink {
    /// The maximum size of one write to a pipe, and of one message.
    private static let pieceBytes = 64 << 10

    private struct State {
        /// Whether the end has been taken.
        var hasBegun = false
        /// The number of bytes that may be unanswered; 0 if it is unknown until the first answer.
        var roomBytes: Int
        var count: UInt64 = 0
        var pipe: PluginPipe?
        /// For a pipe, the write of no bytes, which is answered when the reader has closed its end.
        var leaving: PendingStreamCall?
        /// Whether that write was answered: the reader has closed its end.
        var isUnread = false
        /// Called when the reader closes its end while the pipe is lent.
        var onLeave: (@Sendable () -> Void)?
    }

    private let end: StreamEnd
    private let bell: Bell
    private let state: Mutex<State>
    /// Whether the stream is too short for a pipe.
    private let isShort: Bool

    /// - Parameters:
    ///   - roomBytes: The number of bytes that may be unanswered; 0 if it is unknown until the first answer.
    ///   - totalBytes: The total number of bytes; `nil` if it is unknown.
    ///   - pipe: The end, if it is a pipe from the beginning.
    init(_ end: StreamEnd, roomBytes: Int, totalBytes: Int? = nil, _ pipe: PluginPipe? = nil) {
        self.end = end
        bell = Bell(end.runtime.host)
        state = Mutex(State(hasBegun: pipe != nil, roomBytes: roomBytes))
        isShort = !Self.isWorthPipe(totalBytes)
        if let pipe { attach(pipe, end.begin(.write([]))) }
    }

    /// Returns whether a stream of this length should use a pipe; `nil` for an unknown length.
    static func isWorthPipe(_ totalBytes: Int?) -> Bool { totalBytes.map { $0 >= pieceBytes } ?? true }

    func write(_ bytes: [UInt8]) async throws(BridgeError) {
        guard !end.isOver else { throw BridgeError(.streamClosed, "the stream has ended") }
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
        guard !end.isOver else { throw BridgeError(.streamClosed, "the stream has ended") }
        try await begin()
        let pipe = state.withLock { state -> PluginPipe? in
            // The next write throws the reader's reason.
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

    /// Takes the end, if that has not been done.
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
        // Its answer contains the room, or the reason why there is no such stream.
        try await take(first, 0)
    }

    // MARK: A pipe

    private func attach(_ pipe: PluginPipe, _ leaving: PendingStreamCall) {
        state.withLock { state in
            state.pipe = pipe
            state.leaving = leaving
        }
        // This task ends with the stream.
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

    /// Writes some of these bytes; waits if none fits.
    private func write(_ bytes: ArraySlice<UInt8>, to pipe: PluginPipe) async throws(BridgeError) -> Int {
        guard !state.withLock({ $0.isUnread }), let count = pipe.write(bytes) else {
            pipe.close()
            throw await whyUnread()
        }
        state.withLock { $0.count += UInt64(count) }
        if count == 0 {
            try await wait(pipe)
        } else {
            // Lets the loop serve others between two writes.
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

    /// Returns the daemon's reason for the end of a stream whose reader has closed its pipe.
    private func whyUnread() async -> BridgeError {
        if let leaving = state.withLock({ $0.leaving }), case .failure(let error) = await end.outcome(of: leaving) {
            end.finish()
            return error
        }
        return BridgeError(.streamClosed, "the reader has closed the stream")
    }

    // MARK: Messages

    /// Sends these bytes, and waits for room.
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
        guard !end.isOver else { throw BridgeError(.streamClosed, "the stream has ended") }
        let (pipe, count) = state.withLock { ($0.pipe, $0.count) }
        pipe?.close()
        switch await end.outcome(of: end.begin(.close(bytes: count, nil))) {
        case .success(let answer):
            end.finish()
            try answer.receipt.check()
        // The daemon removes the stream once the reader has closed its end.
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
