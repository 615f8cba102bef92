import BridgeJSON
import EventLoop

/// Writes a stream whose end is a pipe.
@LoopActor
final class PipeWriting {
    private let end: StreamEnd
    private let pipe: PipeEnd
    private var count = 0
    /// Signals room, or that the reader has closed its end.
    private let changed = AsyncSignal<Void>()
    /// Whether the reader has closed its end.
    private var isUnread = false
    /// The reason why the reader closed its end before the stream was complete; `nil` if it was complete.
    private var reason: BridgeError?
    /// Waits until the reader has closed its end, or the connection has ended.
    private var leaving: Task<Void, Never>?

    init(_ end: StreamEnd, _ pipe: PipeEnd) {
        (self.end, self.pipe) = (end, pipe)
        leaving = Task { await self.awaitReader() }
    }

    /// Waits for the reader's end: the daemon answers a write of no bytes when the reader has closed its end.
    private func awaitReader() async {
        do throws(BridgeError) {
            _ = try await end.result(of: try await end.begin("write", StreamOptions.write([])))
        } catch {
            reason = error
        }
        isUnread = true
        changed.resumeAll(())
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

    /// - Returns: The number of written bytes; `nil` if the reader has closed its end.
    private func write(_ bytes: ArraySlice<UInt8>) -> Int? {
        bytes.withUnsafeBytes { bytes in
            do throws(SystemError) { return try pipe.write(bytes) } catch { return nil }
        }
    }

    private func awaitRoom() async throws(BridgeError) {
        pipe.awaitRoom { [weak self] in self?.changed.resumeAll(()) }
        guard await changed.wait() != nil else {
            let error = BridgeError(.callCancelled, "the Swift task that wrote the stream was cancelled")
            leave(error)
            throw error
        }
    }

    /// Returns the daemon's reason why the reader has closed its pipe.
    private func unread() async -> BridgeError {
        pipe.close()
        await leaving?.value
        return reason ?? BridgeError(.streamClosed, "the reader has closed the stream")
    }

    /// - Throws: `stream.closed` if the reader does not have every byte.
    func close() async throws(BridgeError) {
        pipe.close()
        do throws(BridgeError) {
            try await end.close(count)
        } catch {
            // The daemon removes the stream after the reader has closed its end.
            if error.code == .streamNotFound { throw await unread() }
            throw error
        }
    }

    func leave(_ error: BridgeError) {
        pipe.close()
        end.leave(error)
    }
}
