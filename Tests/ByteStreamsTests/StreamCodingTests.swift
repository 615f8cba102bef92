import BridgeJSON
import ByteStreams
import Testing

private struct Photo: Codable {
    var photo: ByteReader
}

private struct Album: Codable {
    var cover: ByteReader?
    var photos: [ByteReader]
}

private struct NewPhoto: Codable {
    var photo: ByteStream
}

/// An end of a stream that records whether it was left.
private final class NotedEnd: ByteSource, ByteSink, @unchecked Sendable {  // one thread
    private(set) var isLeft = false
    var announcement: ByteReader.Announcement? { get async { nil } }
    var isOwnThread: Bool { false }
    func next() async throws(BridgeError) -> [UInt8]? { nil }
    func leave() { isLeft = true }
    func write(_ bytes: [UInt8]) async throws(BridgeError) {}
    func close() async throws(BridgeError) {}
    func leave(_ error: BridgeError) { isLeft = true }
}

private final class NotedReaders: StreamReaders {
    var ends: [(name: String, end: NotedEnd)] = []
    func source(_ name: String) -> any ByteSource {
        ends.append((name, NotedEnd()))
        return ends[ends.count - 1].end
    }
}

@Suite("Streams in Codable types")
struct StreamCodingTests {
    private func decode<T: Decodable>(_ type: T.Type, _ json: JSON, _ readers: NotedReaders?) -> Result<T, JSONMismatch>
    {
        Result { () throws(JSONMismatch) in
            try JSONCoding.decode(type, from: json, userInfo: readers.map { [.streamReaders: $0] } ?? [:])
        }
    }

    @Test("A reader takes the end of the stream that its member names, and leaves it when it is released")
    func reader() throws {
        let readers = NotedReaders()
        do {
            let photo = try decode(Photo.self, ["photo": "stream:12"], readers).get()
            #expect(photo.photo.name == "stream:12" && readers.ends.map(\.name) == ["stream:12"])
            #expect(!readers.ends[0].end.isLeft)
        }
        #expect(readers.ends[0].end.isLeft)
    }

    @Test("Readers can be in arrays, and a missing reader is nil")
    func several() throws {
        let readers = NotedReaders()
        let album = try decode(Album.self, ["photos": ["stream:1", "stream:2"]], readers).get()
        #expect(album.cover == nil && album.photos.map(\.name) == ["stream:1", "stream:2"])
    }

    @Test("If another member is invalid, the ends that were taken are left")
    func partly() {
        let readers = NotedReaders()
        guard case .failure = decode(Album.self, ["photos": ["stream:1", 7]], readers) else {
            Issue.record("7 is no stream")
            return
        }
        #expect(readers.ends.count == 1 && readers.ends[0].end.isLeft)
    }

    @Test("Other text is refused with its path, and no end is taken", arguments: ["", "photo.png", "Stream:1"])
    func noName(text: String) {
        let readers = NotedReaders()
        guard case .failure(let mismatch) = decode(Photo.self, ["photo": .string(text)], readers) else {
            Issue.record("'\(text)' is not a name")
            return
        }
        #expect(mismatch.path == "$.photo" && mismatch.expected.contains("the name of a stream"))
        #expect(readers.ends.isEmpty)
    }

    @Test("A reader is decoded only within a call, and never encoded")
    func elsewhere() throws {
        guard case .failure(let mismatch) = decode(Photo.self, ["photo": "stream:1"], nil) else {
            Issue.record("no call, and yet a reader")
            return
        }
        #expect(mismatch.expected.contains("only"))
        let photo = try decode(Photo.self, ["photo": "stream:1"], NotedReaders()).get()
        let error = #expect(throws: JSONEncodingError.self) { try JSONCoding.json(photo) }
        #expect(error?.path == "$.photo" && error?.reason.contains("cannot be sent") == true)
    }

    @Test("A written stream is encoded as its name, and never decoded")
    func written() throws {
        let json = try JSONCoding.json(NewPhoto(photo: ByteStream("stream:1", NotedEnd())))
        #expect(json == ["photo": "stream:1"])
        guard case .failure(let mismatch) = decode(NewPhoto.self, json, NotedReaders()) else {
            Issue.record("a stream that comes is read")
            return
        }
        #expect(mismatch.expected.contains("ByteReader"))
    }

    @Test("The schema of both types marks the string as a stream")
    func schema() throws {
        let stream: JSON = ["type": "string", "format": "trestle-stream"]
        #expect(try JSONSchema.derive(from: Photo.self)["properties"]?["photo"] == stream)
        #expect(try JSONSchema.derive(from: NewPhoto.self)["properties"]?["photo"] == stream)
        let album = try JSONSchema.derive(from: Album.self)["properties"]
        #expect(album?["cover"] == ["type": ["string", "null"], "format": "trestle-stream"])
        #expect(album?["photos"] == ["type": "array", "items": stream])
    }
}
