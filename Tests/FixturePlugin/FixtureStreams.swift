// Tasks that read and write streams.
import Glibc
import TaskKit

/// Options or a result with a stream to read.
struct Photo: Codable, Sendable {
    var photo: ByteReader
}

/// Options or a result with a stream to write.
struct NewPhoto: Codable, Sendable {
    var photo: ByteStream
}

struct Turn: BridgeTask {
    static let name = "fixture.turn"
    static let summary = "Reads a stream, and answers with one that has its bytes in the opposite order."

    func run(_ options: Photo, _ call: Call) async throws -> NewPhoto {
        let bytes = try await options.photo.collect(upTo: 10 << 20)
        let turned = try await call.makeStream(type: "image/png", totalBytes: bytes.count) { out in
            guard bytes != Array("fail".utf8) else { throw BridgeError("fixture.paper", "no paper") }
            try await out.write(bytes.reversed())
        }
        return NewPhoto(photo: turned)
    }
}

struct TurnOnThread: BridgeTask {
    static let name = "fixture.turn.thread"
    static let summary = "As fixture.turn, on a thread that blocks."
    private let threads = BlockingThreads(name: "turn")

    func run(_ options: Photo, _ call: Call) async throws -> NewPhoto {
        let bytes = try await threads.run {
            var bytes: [UInt8] = []
            while let chunk = try options.photo.readBlocking() { bytes += chunk }
            return bytes
        }
        return NewPhoto(
            photo: try await call.makeStream(on: threads) { out in try out.writeBlocking(bytes.reversed()) })
    }
}

struct ReadFile: BridgeTask {
    static let name = "fixture.file"
    static let summary = "Answers with a file of any path, as a stream."
    struct Options: Codable, Sendable {
        var path: String
        /// Whether the plugin opens the file itself.
        var opens: Bool?
    }

    func run(_ options: Options, _ call: Call) async throws -> NewPhoto {
        if options.opens == true {
            return NewPhoto(
                photo: try await call.makeStream(descriptor: open(options.path, O_RDONLY), type: "image/png"))
        }
        return NewPhoto(photo: try await call.makeStream(file: options.path, type: "image/png"))
    }
}

struct Copy: BridgeTask {
    static let name = "fixture.copy"
    static let summary = "Answers with a copy of a stream, while it reads it."
    static let settings = TaskSettings(timeout: .unlimited)

    func run(_ options: Photo, _ call: Call) async throws -> NewPhoto {
        NewPhoto(
            photo: try await call.makeStream { out in
                for try await bytes in options.photo { try await out.write(bytes) }
            })
    }
}

struct TurnTwice: BridgeTask {
    static let name = "fixture.turn.twice"
    static let summary = "Has fixture.turn turn a stream, and turns what comes of it."

    func run(_ options: Photo, _ call: Call) async throws -> NewPhoto {
        let copy = try await call.makeStream { out in
            for try await bytes in options.photo { try await out.write(bytes) }
        }
        let turned: Photo = try await call.call("fixture.turn", NewPhoto(photo: copy))
        let bytes = try await turned.photo.collect(upTo: 10 << 20)
        return NewPhoto(photo: try await call.makeStream { out in try await out.write(bytes.reversed()) })
    }
}

struct ReadLater: BridgeTask {
    static let name = "fixture.read.later"
    static let summary = "Answers at once, reads the stream after that, and publishes how many bytes it had."

    func run(_ options: Photo, _ call: Call) async throws -> Empty {
        let context = call.plugin
        Task {
            var count = 0
            for try await bytes in options.photo { count += bytes.count }
            context.publish("fixture.read", count)
        }
        return Empty()
    }
}

struct Drop: BridgeTask {
    static let name = "fixture.drop"
    static let summary = "Reads the first bytes of a stream, and no more."

    func run(_ options: Photo, _ call: Call) async throws -> Int {
        for try await bytes in options.photo { return bytes.count }
        return 0
    }
}
