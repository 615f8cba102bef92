internal import BlockingLanes
public import BridgeJSON

// Streams for code on blocking threads, which cannot `await`.

extension ByteReader {
    /// Returns the next bytes, never none; `nil` at the end of the stream. Blocks the thread. To be used on a thread
    /// that may block and that runs no Swift task: in `Call.blocking`, in `BlockingThreads.run`, or on your own thread.
    /// In the first two, the read ends if the waiting Swift task is cancelled.
    ///
    /// - Throws: The errors of the sequence; `call.cancelled` if it was cancelled; `internal` if this thread must not
    ///   block.
    public func readBlocking() throws(BridgeError) -> [UInt8]? {
        let source = source
        try checkMayBlock(source.isOwnThread, "readBlocking")
        return try blocking { () async throws(BridgeError) in try await source.next() }
    }
}

extension ByteWriter {
    /// Writes all these bytes. Blocks the thread while the reader is behind. For the same threads as
    /// `ByteReader.readBlocking`.
    ///
    /// - Throws: `stream.closed` if the reader has disconnected or left the stream; `call.cancelled` if it was
    ///   cancelled; `internal` if this thread must not block.
    public func writeBlocking(_ bytes: [UInt8]) throws(BridgeError) {
        let sink = sink
        try checkMayBlock(sink.isOwnThread, "writeBlocking")
        try blocking { () async throws(BridgeError) in try await sink.write(bytes) }
    }
}

extension ByteStream {
    /// Writes the stream like `write`, once, on this thread. Blocks the thread until the reader has every byte. For the
    /// same threads as `ByteReader.readBlocking`.
    ///
    /// - Parameter body: Writes the bytes, with `ByteWriter.writeBlocking`.
    /// - Throws: The errors of `write`; `internal` if this thread must not block.
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
///   - isOwnThread: Whether this is the thread that transfers the bytes.
///   - name: The name of the called function.
/// - Throws: `internal` if this thread must not be blocked.
private func checkMayBlock(_ isOwnThread: Bool, _ name: String) throws(BridgeError) {
    guard isOwnThread || BlockingWait.isForbidden else { return }
    throw BridgeError(
        .internal,
        "\(name) was called by a Swift task or on the loop thread, which must not block: use await there, or call it "
            + "in Call.blocking or on a thread that may block")
}
