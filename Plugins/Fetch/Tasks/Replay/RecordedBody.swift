import Glibc
import Sodium
import Synchronization
import TaskKit

/// A body that is recorded while it is read. A failure ends the recording of this response, but not the response.
final class RecordedBody: ResponseSource {
    private struct State {
        let path: String
        /// Opened with the first bytes, on the recorder's thread.
        var file: RecordedFile?
        var hash = SHA256()
        var byteCount: Int64 = 0
    }

    private let inner: any ResponseSource
    private let recording: Recording
    private let threads: BlockingThreads
    private let user: UInt32
    private let entry: @Sendable (HAREntry.Body, _ receive: Duration) -> HAREntry
    private let begin = ContinuousClock.now
    /// `nil` if the body is no longer recorded.
    private let state: Mutex<State?>

    /// Begins to record a body.
    ///
    /// - Parameters:
    ///   - inner: The body.
    ///   - recording: The recording.
    ///   - threads: The threads that wait for the disk.
    ///   - user: The user of the recording.
    ///   - entry: Returns the entry when the body has ended.
    init(
        _ inner: any ResponseSource, _ recording: Recording, _ threads: BlockingThreads, of user: UInt32,
        entry: @escaping @Sendable (HAREntry.Body, Duration) -> HAREntry
    ) {
        (self.inner, self.recording, self.threads, self.user, self.entry) = (inner, recording, threads, user, entry)
        state = Mutex(State(path: recording.newBodyPath()))
    }

    deinit { drop() }

    func next() async throws(BridgeError) -> ResponseChannel.Event {
        let event = try await inner.next()
        switch event {
        case .bytes(let bytes): await onThread { $0.write(bytes) }
        case .end(let summary): await onThread { $0.finish(summary) }
        case .head: break
        }
        return event
    }

    /// Ends the recording of a redirect's body, which is not read.
    func endUnread() async {
        await onThread { $0.finish(TransferSummary(wireBytes: 0, decodedBytes: 0, total: .zero)) }
    }

    func cancel() {
        inner.cancel()
        drop()
    }

    private func onThread(_ body: @escaping @Sendable (RecordedBody) -> Void) async {
        guard state.withLock({ $0 != nil }) else { return }
        // A cancelled Swift task does not need the body any more.
        try? await threads.run(of: user) { body(self) }
    }

    private func write(_ bytes: [UInt8]) {
        let isWritten = state.withLock { state -> Bool in
            guard state != nil else { return true }
            guard let file = Self.open(&state), recording.takeRoom(for: bytes.count) else { return false }
            let position = state?.byteCount ?? 0
            state?.byteCount += Int64(bytes.count)
            bytes.withUnsafeBytes { state?.hash.update($0) }
            return (try? file.write(bytes, at: position)) != nil
        }
        if !isWritten { fail() }
    }

    private static func open(_ state: inout State?) -> RecordedFile? {
        if let path = state?.path, state?.file == nil {
            state?.file = try? RecordedFile(path, O_WRONLY | O_CREAT | O_EXCL)
        }
        return state?.file
    }

    private func finish(_ summary: TransferSummary) {
        let taken = state.withLock { state in
            // An empty body also needs a file.
            _ = Self.open(&state)
            return state.take()
        }
        guard var last = taken else { return }
        let hash = last.hash.finish()
        let body = HAREntry.Body(sha256: hash, byteCount: last.byteCount, wireBytes: summary.wireBytes)
        let isKept = rename(last.path, recording.folder.bodyPath(hash)) == 0
        let isAdded = isKept && (try? recording.append(entry(body, ContinuousClock.now - begin))) != nil
        guard !isAdded else { return }
        unlink(last.path)
        recording.giveBack(last.byteCount)
        recording.noteMissing()
    }

    private func fail() {
        recording.noteMissing()
        drop()
    }

    private func drop() {
        guard let last = state.withLock({ $0.take() }) else { return }
        recording.giveBack(last.byteCount)
        threads.submit(of: user) { unlink(last.path) }
    }
}
