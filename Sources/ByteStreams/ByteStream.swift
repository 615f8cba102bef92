public import BridgeJSON

/// A stream that this end writes. Options or a result carry its name to the reader: it may be a member of both, and its
/// JSON is its name.
public final class ByteStream: Sendable {
    /// The stream's name.
    public let name: String
    let sink: any ByteSink

    package init(_ name: String, _ sink: any ByteSink) {
        self.name = name
        self.sink = sink
    }

    // Does nothing where it was written.
    deinit { sink.leave(.neverWritten) }

    /// Writes the stream, once. It is complete where `body` returns and the reader has every byte; where `body` throws,
    /// it ends with an error.
    ///
    /// - Parameters:
    ///   - isolation: Where `body` runs: where the caller does.
    ///   - body: Writes the bytes. Its writer is not to be used after it has returned.
    /// - Throws: `stream.closed` where the reader does not have every byte; `stream.unclaimed` where nobody reads it;
    ///   what `body` throws.
    public func write(
        isolation: isolated (any Actor)? = #isolation, _ body: (borrowing ByteWriter) async throws -> Void
    ) async throws {
        do {
            try await body(ByteWriter(sink))
        } catch {
            sink.leave(Self.reason(error))
            throw error
        }
        try await sink.close()
    }

    /// What the reader gets where the writer failed.
    static func reason(_ error: any Error) -> BridgeError {
        error as? BridgeError ?? BridgeError(.internal, "the writer failed: \(error)")
    }
}

/// Writes the bytes of a stream, from one Swift task at a time.
public struct ByteWriter: ~Copyable, Sendable {
    let sink: any ByteSink

    init(_ sink: any ByteSink) { self.sink = sink }

    /// Writes all of these bytes. Waits while the reader is behind.
    ///
    /// - Throws: `stream.closed` where the reader is gone, or wants no more.
    public func write(_ bytes: [UInt8]) async throws(BridgeError) { try await sink.write(bytes) }

    /// Lends the stream's pipe to `body`, which writes it without a Swift task for each piece: on a thread, for
    /// example, that waits for sockets too. Does nothing where the bytes go in messages. What `body` has not written is
    /// written with ``write(_:)``.
    ///
    /// - Parameters:
    ///   - onLeave: Called, on any thread, where the reader leaves meanwhile: `body` is to return soon.
    ///   - body: Gets the descriptor, which does not block, and returns how many bytes it has written. It
    ///     neither closes the descriptor nor uses it after that.
    /// - Throws: `stream.closed` where the reader is gone, or wants no more.
    public func lendPipe(
        onLeave: @escaping @Sendable () -> Void, to body: (Int32) async -> Int
    ) async throws(BridgeError) { try await sink.lendPipe(onLeave: onLeave, to: body) }
}

/// What is behind a writer.
package protocol ByteSink: AnyObject, Sendable {
    /// Writes all of these bytes; see `ByteWriter.write`.
    func write(_ bytes: [UInt8]) async throws(BridgeError)

    /// Lends the pipe, where there is one; see `ByteWriter.lendPipe`.
    func lendPipe(
        onLeave: @escaping @Sendable () -> Void, to body: (Int32) async -> Int
    ) async throws(BridgeError)

    /// This was all. Waits until the reader has every byte.
    func close() async throws(BridgeError)

    /// See `ByteSource.isOwnThread`.
    var isOwnThread: Bool { get }

    /// Ends the stream, where it is not over, with an error for the reader, without waiting. Any thread.
    func leave(_ error: BridgeError)
}

extension ByteSink {
    /// An end that writes messages alone has no pipe.
    package func lendPipe(
        onLeave: @escaping @Sendable () -> Void, to body: (Int32) async -> Int
    ) async throws(BridgeError) {}
}

extension BridgeError {
    /// What the reader gets of a stream that its maker let go.
    fileprivate static let neverWritten = BridgeError(.internal, "the writer let the stream go before it was written")
}
