// Streams in Codable types: a member is the name of a stream, and its schema states this.

package import BridgeJSON

/// Creates the readers for decoded options or a decoded result. The decoder has it in its `userInfo`, for its call.
package protocol StreamReaders: AnyObject {
    /// Returns the source of the stream with this name, and claims the read end immediately.
    func source(_ name: String) -> any ByteSource
}

extension CodingUserInfoKey {
    /// The key of a `StreamReaders`. `!`: any string is a key.
    package static let streamReaders = CodingUserInfoKey(rawValue: "trestle.streamReaders")!
}

private let streamSchema: JSON = ["type": "string", "format": "trestle-stream"]

extension ByteReader: Codable {
    /// Takes the read end of the stream that a string names.
    ///
    /// - Throws: `DecodingError` if it is not a name of a stream, or if the decoded value is neither a task's options
    ///   nor a call's result.
    public convenience init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let name = try container.decode(String.self)
        guard name.hasPrefix("stream:") else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "the name of a stream")
        }
        guard let readers = decoder.userInfo[.streamReaders] as? any StreamReaders else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "a stream is read from a task's options or a call's result only")
        }
        self.init(name, readers.source(name))
    }

    /// Always throws.
    ///
    /// - Throws: `EncodingError`: an end cannot be passed on.
    public func encode(to encoder: any Encoder) throws {
        throw EncodingError.invalidValue(
            self,
            EncodingError.Context(
                codingPath: encoder.codingPath,
                debugDescription: "a stream that is read here cannot be sent: make another one and copy the bytes"))
    }
}

extension ByteStream: Codable {
    /// Always throws.
    ///
    /// - Throws: `DecodingError`: a received stream must be decoded as `ByteReader`.
    public convenience init(from decoder: any Decoder) throws {
        throw DecodingError.dataCorruptedError(
            in: try decoder.singleValueContainer(),
            debugDescription: "a received stream must be decoded as ByteReader")
    }

    /// Encodes the stream's name.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }
}

extension ByteReader: TypeWithSchema {
    package static var jsonSchema: JSON { streamSchema }
    package static var plainest: ByteReader { ByteReader("", NoStream()) }
}

extension ByteStream: TypeWithSchema {
    package static var jsonSchema: JSON { streamSchema }
    package static var plainest: ByteStream { ByteStream("", NoStream()) }
}

/// The implementation of the ends from which a schema is derived.
private final class NoStream: ByteSource, ByteSink {
    private static let error = BridgeError(.streamNotFound, "this is not an end of a stream")

    var announcement: ByteReader.Announcement? { get async { nil } }
    var isOwnThread: Bool { false }
    func next() async throws(BridgeError) -> [UInt8]? { throw Self.error }
    func leave() {}
    func write(_ bytes: [UInt8]) async throws(BridgeError) { throw Self.error }
    func close() async throws(BridgeError) { throw Self.error }
    func leave(_ error: BridgeError) {}
}
