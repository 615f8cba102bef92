internal import BlockingLanes
public import BridgeJSON

// Streams for code on threads that block, which cannot `await`.

extension ByteReader {
    /// The next bytes, never none; nil: these were all. Blocks the thread: for one that may block, and where no Swift
    /// task runs: in `Call.blocking`, in `BlockingThreads.run`, on a thread of your own. Of the first two, the read
    /// ends where the Swift task that waits for them is cancelled.
    ///
    /// - Throws: As the sequence does; `call.cancelled` where it was cancelled; `internal` where nothing may block.
    public func readBlocking() throws(BridgeError) -> [UInt8]? {
        let source = source
        try checkMayBlock(source.isOwnThread, "readBlocking")
        return try blocking { () async throws(BridgeError) in try await source.next() }
    }
}

extension ByteWriter {
    /// Writes all of these bytes. Blocks the thread while the reader is behind; for the threads that
    /// `ByteReader.readBlocking` is for.
    ///
    /// - Throws: `stream.closed` where the reader is gone, or wants no more; `call.cancelled` where it was cancelled;
    ///   `internal` where nothing may block.
    public func writeBlocking(_ bytes: [UInt8]) throws(BridgeError) {
        let sink = sink
        try checkMayBlock(sink.isOwnThread, "writeBlocking")
        try blocking { () async throws(BridgeError) in try await sink.write(bytes) }
    }
}

extension ByteStream {
    /// Writes the stream, once, on this thread, as `write` does. Blocks the thread until the reader has every byte; for
    /// the threads that `ByteReader.readBlocking` is for.
    ///
    /// - Parameter body: Writes the bytes, with `ByteWriter.writeBlocking`.
    /// - Throws: As `write`; `internal` where nothing may block.
    public func writeBlocking(_ body: (borrowing ByteWriter) throws -> Void) throws {
        let sink = sink
        try checkMayBlock(sink.isOwnThread, "writeBlocking")
        do {
            try body(ByteWriter(sink))
        } catch {
            sink.leave(Self.reason(error))
            throw error
        }
        try blocking { () async throws(BridgeError) in try await sink.close() }
    }
}

/// Blocks the thread until `body` has ended.
private func blocking<T: Sendable>(
    _ body: @escaping @Sendable () async throws(BridgeError) -> T
) throws(BridgeError) -> T {
    try BlockingWait.value {
        do throws(BridgeError) {
            return Result<T, BridgeError>.success(try await body())
        } catch {
            return .failure(error)
        }
    }.get()
}

/// - Parameters:
///   - isOwnThread: Whether this is the thread that moves the bytes.
///   - name: What was called.
/// - Throws: `internal`, where this thread must not be blocked.
private func checkMayBlock(_ isOwnThread: Bool, _ name: String) throws(BridgeError) {
    guard isOwnThread || BlockingWait.isForbidden else { return }
    throw BridgeError(
        .internal,
        "\(name) was called where nothing may block, by a Swift task or on the loop thread: await there, or call it in "
            + "Call.blocking or on a thread that may block")
}
