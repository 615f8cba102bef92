public import BridgeJSON

/// A stream that this end writes. Options or a result pass its name to the reader: it may be a member of both, and its
/// JSON is its name.
public final class ByteStream: Sendable {
    /// The stream's name.
    public let name: String
    let sink: any ByteSink

    package init(_ name: String, _ sink: any ByteSink) {
        self.name = name
        self.sink = sink
    }

    // Does nothing if the stream was written.
    deinit { sink.leave(.neverWritten) }

    /// Writes the stream, once. It is complete when `body` has returned and the reader has every byte. If `body`
    /// throws, it ends with an error.
    ///
    /// - Parameters:
    ///   - isolation: The isolation of `body`; by default that of the caller.
    ///   - body: Writes the bytes. The writer must not be used after `body` has returned.
    /// - Throws: `stream.closed` if the reader does not have every byte; `stream.unclaimed` if no reader claims the
    ///   stream; the errors of `body`.
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

    /// Returns the error for the reader if the writer failed.
    static func reason(_ error: any Error) -> BridgeError {
        error as? BridgeError ?? BridgeError(.internal, "the writer failed: \(error)")
    }
}

/// Writes the bytes of a stream, from one Swift task at a time.
public struct ByteWriter: ~Copyable, Sendable {
    let sink: any ByteSink

    init(_ sink: any ByteSink) { self.sink = sink }

    /// Writes all these bytes. Waits while the reader is behind.
    ///
    /// - Throws: `stream.closed` if the reader has disconnected or left the stream.
    public func write(_ bytes: [UInt8]) async throws(BridgeError) { try await sink.write(bytes) }

    /// Lends the stream's pipe to `body`, which writes to it without a Swift task for each piece: for example on a
    /// thread that also waits for sockets. Does nothing if the bytes are sent in messages. The caller writes the rest
    /// with ``write(_:)``.
    ///
    /// - Parameters:
    ///   - onLeave: Called on any thread if the reader leaves in the meantime. `body` must then return soon.
    ///   - body: Receives the non-blocking descriptor, and returns the number of written bytes. It must not close the
    ///     descriptor, or use it after that.
    /// - Throws: `stream.closed` if the reader has disconnected or left the stream.
    public func lendPipe(
        onLeave: @escaping @Sendable () -> Void, to body: (Int32) async -> Int
    ) async throws(BridgeError) { try await sink.lendPipe(onLeave: onLeave, to: body) }
}

/// The implementation of a writer.
package protocol ByteSink: AnyObject, Sendable {
    /// Writes all these bytes; see `ByteWriter.write`.
    func write(_ bytes: [UInt8]) async throws(BridgeError)

    /// Lends the pipe, if there is one; see `ByteWriter.lendPipe`.
    func lendPipe(
        onLeave: @escaping @Sendable () -> Void, to body: (Int32) async -> Int
    ) async throws(BridgeError)

    /// Ends the stream after its last byte. Waits until the reader has every byte.
    func close() async throws(BridgeError)

    /// See `ByteSource.isOwnThread`.
    var isOwnThread: Bool { get }

    /// Ends the stream with an error for the reader if it has not ended, without waiting. Any thread.
    func leave(_ error: BridgeError)
}

extension ByteSink {
    /// Does nothing: an end that only writes messages has no pipe.
    package func lendPipe(
        onLeave: @escaping @Sendable () -> Void, to body: (Int32) async -> Int
    ) async throws(BridgeError) {}
}

extension BridgeError {
    /// The error for the reader of a stream that its creator released before writing it.
    fileprivate static let neverWritten = BridgeError(.internal, "the writer released the stream before it was written")
}
