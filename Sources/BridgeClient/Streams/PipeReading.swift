import BridgeJSON
import EventLoop

/// Reads a stream whose end is a pipe.
@LoopActor
final class PipeReading {
    /// What one read takes at most: as much as a pipe holds.
    private static let readBytes = 64 << 10

    private let end: StreamEnd
    private let pipe: PipeEnd
    private var count: UInt64 = 0
    /// How many bytes there are in all, or why the stream is not complete; nil: the daemon has not said yet.
    private var outcome: Result<UInt64, BridgeError>?
    /// The sequence has ended, or thrown.
    private var isOver = false
    /// Bytes, or the outcome.
    private let news = AsyncSignal<Void>()

    init(_ end: StreamEnd, _ pipe: PipeEnd) {
        (self.end, self.pipe) = (end, pipe)
        // Ends with the stream, or the connection.
        Task { await self.awaitOutcome() }
    }

    private func awaitOutcome() async {
        do throws(BridgeError) {
            let result = try await end.result(of: try await end.begin("read"))
            outcome = .success(UInt64(clamping: result["bytes"]?.int64Value ?? 0))
        } catch {
            outcome = .failure(error)
        }
        news.resumeAll(())
    }

    /// - Returns: the next bytes, never none; nil: these were all.
    func next() async throws(BridgeError) -> [UInt8]? {
        while !isOver {
            if case .success(count) = outcome { return try await finish() }
            let known = outcome
            let bytes = read()
            if let bytes, !bytes.isEmpty {
                count += UInt64(bytes.count)
                return bytes
            }
            switch known {
            case .failure(let error): throw stop(error)
            // A process that the writer has begun may keep its end open: the number alone says that it is the end.
            case .success(let total) where bytes != nil:
                throw stop(BridgeError(.streamInvalid, "\(count) of the \(total) bytes of the stream came"))
            case .success, nil: try await awaitNews(orBytes: bytes == nil)
            }
        }
        return nil
    }

    /// - Returns: none: the pipe has ended; nil: nothing is there at present.
    private func read() -> [UInt8]? {
        do throws(SystemError) { return try pipe.read(Self.readBytes) } catch { return [] }
    }

    private func awaitNews(orBytes: Bool) async throws(BridgeError) {
        if orBytes { pipe.awaitBytes { [weak self] in self?.news.resumeAll(()) } }
        guard await news.wait() != nil else {
            throw stop(BridgeError(.callCancelled, "the Swift task that read the stream was cancelled"))
        }
    }

    private func finish() async throws(BridgeError) -> [UInt8]? {
        isOver = true
        pipe.close()
        try await end.close(Int(count))
        return nil
    }

    /// Nothing is read any longer.
    private func stop(_ error: BridgeError) -> BridgeError {
        isOver = true
        pipe.close()
        end.leave(error)
        return error
    }
}
