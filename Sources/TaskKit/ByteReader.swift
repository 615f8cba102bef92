/// The reader's end of a stream: a sequence of its bytes, in chunks of any size. It is read once, by one reader.
///
/// The sequence ends only where every byte has come; otherwise it throws. Where this is no longer held before that, or
/// the Swift task that waits is cancelled, the stream ends for its writer. See `docs/streams.md`.
public final class ByteReader: AsyncSequence, Sendable {
    /// Some bytes, never none.
    public typealias Element = [UInt8]
    /// `stream.closed`, `stream.not_found`.
    public typealias Failure = BridgeError

    /// The stream's name.
    public var name: String { end.name }
    private let end: StreamEnd

    /// Base 64 of so many bytes is decoded on the loop.
    private static let chunkBytes = 45_000

    init(_ end: StreamEnd) { self.end = end }

    deinit { end.leave(nil) }

    /// All bytes that have not been read.
    ///
    /// - Parameter maximumBytes: Beyond this many, it ends the stream and throws.
    /// - Throws: `quota.exceeded` where there are more; as the sequence does.
    public func collect(upTo maximumBytes: Int) async throws(BridgeError) -> [UInt8] {
        var bytes: [UInt8] = []
        while let chunk = try await next() {
            bytes += chunk
            guard bytes.count <= maximumBytes else {
                end.leave(nil)
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
            try await reader.next()
        }
    }

    private func next() async throws(BridgeError) -> [UInt8]? {
        guard !end.isOver else { return nil }
        let answer = try await end.call("read", ["bytes": .number(JSONNumber(Self.chunkBytes))])
        if answer["end"] == true {
            // The daemon has given all of them, one answer after the other, or an error.
            end.finish()
            return nil
        }
        guard let bytes = answer["base64"]?.stringValue.flatMap(Self.decode) else {
            let error = BridgeError(.streamInvalid, "the daemon's answer to a read has no bytes")
            end.leave(error)
            throw error
        }
        return bytes
    }

    private static func decode(_ text: String) -> [UInt8]? {
        Array(text.utf8).withUnsafeBytes { Base64Coding.decode($0) }
    }
}
