import BridgeJSON
import EventLoop

/// Writes a stream whose end is a pipe.
@LoopActor
final class PipeWriting {
    private let end: StreamEnd
    private let pipe: PipeEnd
    private var count = 0
    /// Room, or the reader's end.
    private let news = AsyncSignal<Void>()
    /// Whether the reader has left.
    private var isUnread = false
    /// Why it has left before the stream was complete; nil: it was.
    private var reason: BridgeError?
    /// Ends when the reader has left, or the connection is gone.
    private var leaving: Task<Void, Never>?

    init(_ end: StreamEnd, _ pipe: PipeEnd) {
        (self.end, self.pipe) = (end, pipe)
        leaving = Task { await self.awaitReader() }
    }

    /// A write of no bytes is answered when the reader has left.
    private func awaitReader() async {
        do throws(BridgeError) {
            _ = try await end.result(of: try await end.begin("write", StreamOptions.write([])))
        } catch {
            reason = error
        }
        isUnread = true
        news.resumeAll(())
    }

    func write(_ bytes: [UInt8]) async throws(BridgeError) {
        var position = 0
        while position < bytes.count {
            guard !isUnread, let written = write(bytes[position...]) else { throw await unread() }
            position += written
            count += written
            if written == 0 { try await awaitRoom() }
        }
    }

    /// - Returns: nil: nobody reads.
    private func write(_ bytes: ArraySlice<UInt8>) -> Int? {
        bytes.withUnsafeBytes { bytes in
            do throws(SystemError) { return try pipe.write(bytes) } catch { return nil }
        }
    }

    private func awaitRoom() async throws(BridgeError) {
        pipe.awaitRoom { [weak self] in self?.news.resumeAll(()) }
        guard await news.wait() != nil else {
            let error = BridgeError(.callCancelled, "the Swift task that wrote the stream was cancelled")
            leave(error)
            throw error
        }
    }

    /// The reader has closed its pipe: the daemon says why.
    private func unread() async -> BridgeError {
        pipe.close()
        await leaving?.value
        return reason ?? BridgeError(.streamClosed, "the reader has closed the stream")
    }

    /// - Throws: `stream.closed` where the reader does not have every byte.
    func close() async throws(BridgeError) {
        pipe.close()
        do throws(BridgeError) {
            try await end.close(count)
        } catch {
            // The stream is forgotten once the reader has left.
            if error.code == .streamNotFound { throw await unread() }
            throw error
        }
    }

    func leave(_ error: BridgeError) {
        pipe.close()
        end.leave(error)
    }
}
