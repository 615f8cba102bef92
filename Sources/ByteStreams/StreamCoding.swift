// Streams in Codable types: a member is the name of a stream, and its schema says so.

package import BridgeJSON

/// Makes the readers of options or a result that are decoded: the decoder knows for which call.
package protocol StreamReaders: AnyObject {
    /// What reads the stream of this name. It takes the end immediately.
    func source(_ name: String) -> any ByteSource
}

extension CodingUserInfoKey {
    /// `StreamReaders`. `!`: any string is a key.
    package static let streamReaders = CodingUserInfoKey(rawValue: "trestle.streamReaders")!
}

private let streamSchema: JSON = ["type": "string", "format": "trestle-stream"]

extension ByteReader: Codable {
    /// Takes the end of the stream that a string names.
    ///
    /// - Throws: `DecodingError` where it is no name, and where this is neither a task's options nor a call's result.
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
    /// - Throws: `EncodingError`: an end is not handed on.
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
    /// - Throws: `DecodingError`: a stream of another one is read, with `ByteReader`.
    public convenience init(from decoder: any Decoder) throws {
        throw DecodingError.dataCorruptedError(
            in: try decoder.singleValueContainer(),
            debugDescription: "a stream that comes is read: its type is ByteReader")
    }

    /// Encodes its name.
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

/// Behind the ends that a schema is derived from.
private final class NoStream: ByteSource, ByteSink {
    private static let error = BridgeError(.streamNotFound, "this is no end of a stream")

    var announcement: ByteReader.Announcement? { get async { nil } }
    var isOwnThread: Bool { false }
    func next() async throws(BridgeError) -> [UInt8]? { throw Self.error }
    func leave() {}
    func write(_ bytes: [UInt8]) async throws(BridgeError) { throw Self.error }
    func close() async throws(BridgeError) { throw Self.error }
    func leave(_ error: BridgeError) {}
}
