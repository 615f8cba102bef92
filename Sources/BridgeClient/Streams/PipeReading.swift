import BridgeJSON
import EventLoop

/// Reads a stream whose end is a pipe.
@LoopActor
final class PipeReading {
    /// The maximum number of bytes of one read: as many as a pipe holds.
    private static let readBytes = 64 << 10

    private let end: StreamEnd
    private let pipe: PipeEnd
    private var state = ReadPipe()
    /// Whether the sequence has ended or thrown.
    private var isOver = false
    /// Signals bytes, or the outcome.
    private let changed = AsyncSignal<Void>()

    init(_ end: StreamEnd, _ pipe: PipeEnd) {
        (self.end, self.pipe) = (end, pipe)
        // This Swift task ends with the stream or the connection.
        Task { await self.awaitOutcome() }
    }

    private func awaitOutcome() async {
        do throws(BridgeError) {
            let result = try await end.result(of: try await end.begin("read"))
            state.outcome = .success(UInt64(clamping: result["bytes"]?.int64Value ?? 0))
        } catch {
            state.outcome = .failure(error)
        }
        changed.resumeAll(())
    }

    /// - Returns: The next bytes, at least one; `nil` at the end.
    func next() async throws(BridgeError) -> [UInt8]? {
        while !isOver {
            switch state.next(read) {
            case .bytes(let bytes): return bytes
            case .all(let bytes): return try await finish(bytes)
            case .failure(let error): throw stop(error)
            case .wait(let forBytes): try await awaitNews(orBytes: forBytes)
            }
        }
        return nil
    }

    /// - Returns: The bytes; empty if the pipe has ended; `nil` if it has no bytes at present.
    private func read() -> [UInt8]? {
        do throws(SystemError) { return try pipe.read(Self.readBytes) } catch { return [] }
    }

    private func awaitNews(orBytes: Bool) async throws(BridgeError) {
        if orBytes { pipe.awaitBytes { [weak self] in self?.changed.resumeAll(()) } }
        guard await changed.wait() != nil else {
            throw stop(BridgeError(.callCancelled, "the Swift task that read the stream was cancelled"))
        }
    }

    private func finish(_ byteCount: UInt64) async throws(BridgeError) -> [UInt8]? {
        isOver = true
        pipe.close()
        try await end.close(Int(byteCount))
        return nil
    }

    /// Stops reading. Returns the error.
    private func stop(_ error: BridgeError) -> BridgeError {
        isOver = true
        pipe.close()
        end.leave(error)
        return error
    }
}
