internal import CTaskPlugin
internal import Synchronization

/// The source of a reader: a pipe if the daemon can provide one, otherwise messages. One reader, any thread.
final class StreamReading: ByteSource {
    private struct State {
        /// The call that requests a pipe; `nil` after its answer.
        var attaching: PendingStreamCall?
        /// The pending read: the next chunk is requested while the last one is used. For a pipe, its answer contains no
        /// bytes, only the end of the stream.
        var pending: PendingStreamCall?
        var messages = ReadBytes()
        var pipe: (end: PluginPipe, reading: ReadPipe)?
        var pipeAnnouncement: ByteReader.Announcement?
        /// Whether bytes were read since the task last yielded to the loop.
        var hasRead = false
    }

    private let end: StreamEnd
    private let state: Mutex<State>
    private let bell: Bell

    /// Takes the end immediately, because the call for which it is taken may end before the bytes are read.
    init(_ end: StreamEnd) {
        self.end = end
        bell = Bell(end.runtime.host)
        let calls = end.take(.read)
        state = Mutex(State(attaching: calls.attaching, pending: calls.first))
    }

    var announcement: ByteReader.Announcement? {
        get async { state.withLock { $0.pipeAnnouncement ?? $0.messages.announcement } }
    }

    func next() async throws(BridgeError) -> [UInt8]? {
        if let call = state.withLock({ $0.attaching }) { await attach(call) }
        guard !end.isOver else { return nil }
        return state.withLock { $0.pipe != nil } ? try await nextOfPipe() : try await nextMessage()
    }

    // MARK: A pipe

    /// Attaches the pipe. If there is none, the read that was also made returns the reason, or the first bytes.
    private func attach(_ call: PendingStreamCall) async {
        let outcome = await end.outcome(of: call)
        let pending = state.withLock { state -> PendingStreamCall? in
            state.attaching = nil
            guard case .success(let answer) = outcome, let pipe = answer.pipe else { return nil }
            state.pipe = (pipe, ReadPipe())
            state.pipeAnnouncement = answer.announcement
            return state.pending
        }
        guard let pending else { return }
        // This task ends with the stream.
        Task(executorPreference: end.runtime.executor) { [weak self] in
            let outcome = await pending.value
            self?.take(outcome)
        }
    }

    private func take(_ outcome: StreamCall.Outcome) {
        state.withLock { $0.pipe?.reading.outcome = outcome.map(\.count) }
        bell.ring()
    }

    private func nextOfPipe() async throws(BridgeError) -> [UInt8]? {
        while let pipe = state.withLock({ $0.pipe?.end }) {
            // Lets the loop serve others between two reads.
            if state.withLock({ $0.hasRead }) { await Task.yield() }
            let step = state.withLock { state in
                state.hasRead = false
                return state.pipe?.reading.next(pipe.read)
            }
            switch step {
            case .bytes(let bytes):
                state.withLock { $0.hasRead = true }
                return bytes
            case .all(let bytes):
                pipe.close()
                let receipt = try await end.call(.close(bytes: bytes, nil)).receipt
                end.finish()
                try receipt.check()
                return nil
            case .failure(let error):
                pipe.close()
                end.leave(error)
                throw error
            case .wait(let forBytes): try await wait(pipe, forBytes: forBytes)
            case nil: break
            }
        }
        return nil
    }

    private func wait(_ pipe: PluginPipe, forBytes: Bool) async throws(BridgeError) {
        if forBytes { pipe.ring(bell, when: TRESTLE_WATCH_READABLE, end.runtime) }
        do {
            try await bell.wait()
        } catch {
            let error = BridgeError(.callCancelled, "the Swift task that read the stream was cancelled")
            pipe.close()
            end.leave(error)
            throw error
        }
    }

    // MARK: Messages

    private func nextMessage() async throws(BridgeError) -> [UInt8]? {
        guard let call = state.withLock({ $0.pending.take() }) else { return nil }
        let chunk = try await end.answer(to: call).chunk
        do throws(BridgeError) {
            guard let bytes = try take(chunk) else {
                end.finish()
                return nil
            }
            let next = end.begin(.read)
            state.withLock { $0.pending = next }
            return bytes
        } catch {
            end.leave(error)
            throw error
        }
    }

    private func take(_ chunk: StreamChunk) throws(BridgeError) -> [UInt8]? {
        try state.withLock { state in
            Result { () throws(BridgeError) in try state.messages.take(chunk) }
        }.get()
    }

    var isOwnThread: Bool { end.isOwnThread }

    func leave() {
        let byteCount = state.withLock { state in
            state.pipe?.end.close()
            return state.pipe?.reading.byteCount
        }
        end.leave(nil, bytes: byteCount)
    }
}

/// Creates the readers while options or a result are decoded. One thread at a time.
final class DecodedStreams: StreamReaders {
    /// The call that the plugin works on; 0 if there is none.
    var call: trestle_call = 0
    // Never released; see `Plugin.export`.
    private unowned(unsafe) var runtime: PluginRuntime?

    func attach(_ runtime: PluginRuntime) { self.runtime = runtime }

    func source(_ name: String) -> any ByteSource {
        guard let runtime else { preconditionFailure("options are decoded before the plugin has a host") }
        return StreamReading(StreamEnd(name, .read, Sender(runtime: runtime, parent: call)))
    }
}
