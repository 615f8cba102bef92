public import BridgeJSON
import EventLoop

/// The reader's end of a stream: a sequence of its bytes, in chunks of any size. It is read once, by one reader.
///
/// The sequence ends only where every byte has come; otherwise it throws. Where this is no longer held before that, or
/// the Swift task that waits is cancelled, the stream ends for its writer.
public final class ByteReader: AsyncSequence, Sendable {
    /// Some bytes, never none.
    public typealias Element = [UInt8]
    /// `stream.closed`, `stream.not_found`, `session.closed`.
    public typealias Failure = BridgeError

    /// The stream's name.
    public let name: String
    private let reading: StreamReading

    init(_ name: String, _ reading: StreamReading) {
        self.name = name
        self.reading = reading
    }

    deinit {
        EventLoop.post { [reading] in reading.leave() }
    }

    /// What the maker of the stream said of its bytes; nil: nothing, or none have come yet.
    public var announcement: Announcement? { get async { await reading.announcement } }

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
        while let chunk = try await reading.next() {
            bytes += chunk
            guard bytes.count <= maximumBytes else {
                await reading.leave()
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
            try await reader.reading.next()
        }
    }
}

/// What is behind a reader.
@LoopActor
final class StreamReading {
    private let end: StreamEnd
    /// The next chunk is asked for while the last one is used.
    private var pending: CallInFlight?
    private var count: UInt64 = 0
    private(set) var announcement: ByteReader.Announcement?

    init(_ end: StreamEnd) { self.end = end }

    /// Takes the end, by asking for the first bytes.
    func take() async { pending = try? await end.begin("read") }

    /// The next bytes; nil: these were all.
    func next() async throws(BridgeError) -> [UInt8]? {
        guard !end.isOver else { return nil }
        let call: CallInFlight
        if let pending { call = pending } else { call = try await end.begin("read") }
        pending = nil
        let answer = try await end.result(of: call)
        if answer["end"] == true { return try finish(answer) }
        guard let bytes = answer["base64"]?.stringValue.flatMap(Self.decode) else {
            let error = BridgeError(.streamInvalid, "the daemon's answer to a read has no bytes")
            end.leave(error)
            throw error
        }
        announcement = announcement ?? Self.announcement(in: answer)
        count += UInt64(bytes.count)
        // An error comes with the next read.
        pending = try? await end.begin("read")
        return bytes
    }

    private func finish(_ answer: JSON) throws(BridgeError) -> [UInt8]? {
        end.finish()
        guard answer["bytes"]?.int64Value == Int64(count) else {
            throw BridgeError(
                .streamInvalid, "\(count) of the \(answer["bytes"]?.text ?? "?") bytes of the stream came")
        }
        return nil
    }

    private static func announcement(in answer: JSON) -> ByteReader.Announcement? {
        let (type, total) = (answer["type"]?.stringValue, answer["totalBytes"]?.int64Value)
        guard type != nil || total != nil else { return nil }
        return ByteReader.Announcement(type: type, totalBytes: total.map { Int(clamping: $0) })
    }

    private static func decode(_ text: String) -> [UInt8]? {
        Array(text.utf8).withUnsafeBytes { Base64Coding.decode($0) }
    }

    /// Ends the stream, where it is not over.
    func leave() { end.leave(nil) }
}
