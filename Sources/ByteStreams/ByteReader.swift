// ByteStreams: the two ends of a stream in the libraries for clients and plugins, and the rules of the daemon's tasks
// for streams. It makes no calls: the implementation of an end does (`ByteSource`, `ByteSink`).

public import BridgeJSON

/// The reader's end of a stream: a sequence of its bytes, in chunks of any size. It is read once, by one reader.
///
/// The sequence ends only after every byte was received; otherwise it throws. If this object is released before that,
/// or the waiting Swift task is cancelled, the stream ends for its writer.
///
/// It may be a member of a task's options or of a call's result: it is then the read end of the stream that the member
/// names. It is decoded only there, and never encoded: an end cannot be passed on.
public final class ByteReader: AsyncSequence, Sendable {
    /// A chunk of bytes, never empty.
    public typealias Element = [UInt8]
    /// The errors of the stream, such as `stream.closed`, `stream.invalid`, `stream.not_found` and `session.closed`.
    public typealias Failure = BridgeError

    /// The stream's name.
    public let name: String
    let source: any ByteSource

    package init(_ name: String, _ source: any ByteSource) {
        self.name = name
        self.source = source
    }

    deinit { source.leave() }

    /// The announcement of the stream's creator about its bytes; `nil` if there is none, or if no bytes were received
    /// yet.
    public var announcement: Announcement? { get async { await source.announcement } }

    /// The information that the creator of a stream gives about its bytes.
    public struct Announcement: Sendable, Hashable {
        /// Their media type; `nil` if it is not specified.
        public let type: String?
        /// Their expected number; `nil` if it is not specified.
        public let totalBytes: Int?
    }

    /// Reads all remaining bytes.
    ///
    /// - Parameter maximumBytes: The number of bytes above which it ends the stream and throws.
    /// - Throws: `quota.exceeded` if there are more; the errors of the sequence.
    public func collect(upTo maximumBytes: Int) async throws(BridgeError) -> [UInt8] {
        var bytes: [UInt8] = []
        while let chunk = try await source.next() {
            bytes += chunk
            guard bytes.count <= maximumBytes else {
                source.leave()
                throw BridgeError(.quotaExceeded, "the stream has more than the \(maximumBytes) bytes that are read")
            }
        }
        return bytes
    }

    /// Returns an iterator over the chunks.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: self) }

    /// An iterator over the chunks.
    public struct Iterator: AsyncIteratorProtocol {
        let reader: ByteReader

        /// Returns the next bytes; `nil` at the end of the stream.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(BridgeError) -> [UInt8]? {
            try await reader.source.next()
        }
    }
}

/// The implementation of a reader.
package protocol ByteSource: AnyObject, Sendable {
    /// See `ByteReader.announcement`.
    var announcement: ByteReader.Announcement? { get async }

    /// Returns the next bytes, never none; `nil` at the end of the stream.
    func next() async throws(BridgeError) -> [UInt8]?

    /// Whether this thread transfers the bytes: blocking it would stop them.
    var isOwnThread: Bool { get }

    /// Ends the stream if it has not ended, without waiting. Any thread.
    func leave()
}
