// ByteStreams: the two ends of a stream as the libraries of clients and plugins show them, and the rules of the
// daemon's tasks about streams. It makes no calls: the holder of an end does (`ByteSource`, `ByteSink`).

public import BridgeJSON

/// The reader's end of a stream: a sequence of its bytes, in chunks of any size. It is read once, by one reader.
///
/// The sequence ends only where every byte has come; otherwise it throws. Where this is no longer held before that, or
/// the Swift task that waits is cancelled, the stream ends for its writer.
///
/// It may be a member of a task's options or of a call's result: it is then the end of the stream that the member
/// names. It is decoded only there, and never encoded: an end is not handed on.
public final class ByteReader: AsyncSequence, Sendable {
    /// Some bytes, never none.
    public typealias Element = [UInt8]
    /// `stream.closed`, `stream.not_found`, `session.closed`.
    public typealias Failure = BridgeError

    /// The stream's name.
    public let name: String
    let source: any ByteSource

    package init(_ name: String, _ source: any ByteSource) {
        self.name = name
        self.source = source
    }

    deinit { source.leave() }

    /// What the maker of the stream said of its bytes; nil: nothing, or none have come yet.
    public var announcement: Announcement? { get async { await source.announcement } }

    /// What the maker of a stream says of its bytes.
    public struct Announcement: Sendable, Hashable {
        /// Their media type.
        public let type: String?
        /// How many there are to be.
        public let totalBytes: Int?
    }

    /// All bytes that have not been read.
    ///
    /// - Parameter maximumBytes: Beyond this many, it ends the stream and throws.
    /// - Throws: `quota.exceeded` where there are more; as the sequence does.
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

    /// Takes the bytes, chunk by chunk.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: self) }

    /// Takes chunks one by one.
    public struct Iterator: AsyncIteratorProtocol {
        let reader: ByteReader

        /// The next bytes; nil: these were all.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(BridgeError) -> [UInt8]? {
            try await reader.source.next()
        }
    }
}

/// What is behind a reader.
package protocol ByteSource: AnyObject, Sendable {
    /// See `ByteReader.announcement`.
    var announcement: ByteReader.Announcement? { get async }

    /// The next bytes, never none; nil: these were all.
    func next() async throws(BridgeError) -> [UInt8]?

    /// Whether this thread is the one that moves the bytes: blocking it would stop them.
    var isOwnThread: Bool { get }

    /// Ends the stream, where it is not over, without waiting. Any thread.
    func leave()
}
