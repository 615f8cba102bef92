import BridgeJSON
import EventLoop
import Foundation
import TaskRuntime
import Testing

@testable import BridgeClient

/// Streams against the daemon's server and runtime.
@Suite(.timeLimit(.minutes(5))) @LoopActor struct StreamTests {
    private func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    }

    @Test("Any number of bytes arrives whole and in order, for each window size", arguments: [4_096, 262_144])
    func whole(window: Int) async throws {
        var limits = RuntimeLimits()
        limits.streamWindowBytes = window
        try await withClients(limits: limits) { writer, reader in
            for count in [0, 1, 24_000, 24_001, 700_001] {
                let data = bytes(count)
                let stream = try await writer.makeStream(type: "image/png", totalBytes: count)
                let writing = Task { try await stream.write { out in try await out.write(data) } }
                let received = await reader.readStream(stream.name)
                #expect(try await received.collect(upTo: count) == data)
                let announcement = await received.announcement
                #expect(announcement?.type == "image/png" && announcement?.totalBytes == count)
                try await writing.value
            }
        }
    }

    @Test("A daemon that accepts only short messages gets bytes and reasons in short messages")
    func shortMessages() async throws {
        var limits = RuntimeLimits()
        limits.messageBytes = 1_024
        try await withClients(limits: limits) { writer, reader in
            let data = bytes(60_000)
            // The stream is known to be short, so it uses messages.
            let stream = try await writer.makeStream(totalBytes: data.count)
            async let writing: Void = stream.write { out in try await out.write(data) }
            let received = await reader.readStream(stream.name)
            #expect(try await received.collect(upTo: data.count) == data)
            try await writing
            let reason = String(repeating: "\"", count: 10_000)
            let broken = try await writer.makeStream()
            let breaking = Task {
                try await broken.write { _ in throw BridgeError(.internal, reason) }
            }
            let rest = await reader.readStream(broken.name)
            let failure = await error { () async throws(BridgeError) in _ = try await rest.collect(upTo: 9) }
            let given = failure?.data?["error"]?["message"]?.stringValue ?? ""
            #expect(given.count > 100 && reason.hasPrefix(given.dropLast()))
            await #expect(throws: BridgeError.self) { try await breaking.value }
        }
    }

    @Test("A handler reads its caller's stream and answers with a stream that the caller reads")
    func handler() async throws {
        try await withClients { caller, provider in
            try await provider.registerJSON("turn") { options, call in
                let photo = await provider.readStream(options["photo"]?.stringValue ?? "", for: call)
                let data = try await photo.collect(upTo: 1_000)
                let turned = try await provider.makeStream(for: call)
                Task { try await turned.write { out in try await out.write(data.reversed()) } }
                return ["photo": .string(turned.name)]
            }
            let photo = try await caller.makeStream()
            async let writing: Void = photo.write { out in try await out.write([1, 2, 3]) }
            let result = try await caller.callJSON("turn", ["photo": .string(photo.name)])
            let turned = await caller.readStream(result["photo"]?.stringValue ?? "")
            #expect(try await turned.collect(upTo: 1_000) == [3, 2, 1])
            try await writing
        }
    }

    @Test("Typed options contain the caller's stream, and a typed result contains the handler's stream")
    func typed() async throws {
        struct Photo: Codable, Sendable { var photo: ByteReader }
        struct NewPhoto: Codable, Sendable { var photo: ByteStream }
        try await withClients { caller, provider in
            try await provider.register("turn") { (options: Photo, call) in
                let data = try await options.photo.collect(upTo: 1_000)
                let turned = try await provider.makeStream(for: call)
                Task { try await turned.write { out in try await out.write(data.reversed()) } }
                return NewPhoto(photo: turned)
            }
            let photo = try await caller.makeStream()
            async let writing: Void = photo.write { out in try await out.write([1, 2, 3]) }
            let turned: Photo = try await caller.call("turn", NewPhoto(photo: photo))
            #expect(try await turned.photo.collect(upTo: 1_000) == [3, 2, 1])
            try await writing
        }
    }

    @Test("A handler may read its caller's stream after it has answered")
    func later() async throws {
        struct Photo: Codable, Sendable { var photo: ByteReader }
        try await withClients { caller, provider in
            let (sizes, size) = AsyncStream.makeStream(of: Int.self)
            try await provider.register("keep") { (options: Photo, _) in
                Task { size.yield(try await options.photo.collect(upTo: 100_000).count) }
                return true
            }
            let photo = try await caller.makeStream()
            let options: JSON = ["photo": .string(photo.name)]
            let kept: Bool = try await caller.call("keep", options)
            #expect(kept)
            try await photo.write { out in try await out.write([UInt8](repeating: 1, count: 60_000)) }
            var iterator = sizes.makeAsyncIterator()
            #expect(await iterator.next() == 60_000)
        }
    }

    @Test("An error thrown by the closure ends the stream: the reader gets the earlier bytes, then the error")
    func thrown() async throws {
        struct NoPaper: Error {}
        try await withClients { writer, reader in
            let stream = try await writer.makeStream()
            let received = await reader.readStream(stream.name)
            await #expect(throws: NoPaper.self) {
                try await stream.write { out in
                    try await out.write([1, 2])
                    throw NoPaper()
                }
            }
            var iterator = received.makeAsyncIterator()
            #expect(try await iterator.next(isolation: nil) == [1, 2])
            let failure = await error { () async throws(BridgeError) in
                _ = try await received.collect(upTo: 9)
            }
            #expect(failure?.code == .streamClosed && failure?.data?["by"] == "writer")
            #expect(try await received.collect(upTo: 9) == [])
        }
    }

    @Test("A released reader, and a stream that is never written, end for the other side")
    func dropped() async throws {
        try await withClients { writer, reader in
            let stream = try await writer.makeStream()
            let writing = Task {
                try await stream.write { out in
                    while true { try await out.write([UInt8](repeating: 0, count: 50_000)) }
                }
            }
            do {
                var iterator = await reader.readStream(stream.name).makeAsyncIterator()
                #expect(try await iterator.next(isolation: nil) != nil)
            }
            let failure = await #expect(throws: BridgeError.self) { try await writing.value }
            #expect(failure?.code == .streamClosed)
            let name: String
            do { name = try await writer.makeStream().name }
            let unwritten = await reader.readStream(name)
            let gone = await error { () async throws(BridgeError) in _ = try await unwritten.collect(upTo: 9) }
            #expect(gone?.code == .streamClosed || gone?.code == .streamNotFound)
        }
    }

    @Test("Cancelling a waiting reader ends the stream for the other side")
    func cancelled() async throws {
        try await withClients { writer, reader in
            let stream = try await writer.makeStream()
            let received = await reader.readStream(stream.name)
            let reading = Task { try await received.collect(upTo: 9) }
            // The daemon answers this after the read, so the reader has its end by now.
            _ = try await reader.callJSON("bridge.ping")
            reading.cancel()
            await #expect(throws: BridgeError.self) { try await reading.value }
            _ = try await reader.callJSON("bridge.ping")
            var failure: BridgeError?
            do {
                try await stream.write { out in
                    while true { try await out.write([UInt8](repeating: 0, count: 50_000)) }
                }
            } catch {
                failure = error as? BridgeError
            }
            #expect(failure?.code == .streamClosed && failure?.data?["by"] == "reader")
        }
    }

    @Test("A writer that is cancelled while a write waits to be sent ends the stream")
    func unsent() async throws {
        try await withFakeDaemon { client, connection, _ in
            async let made = client.makeStream(totalBytes: 60_000)
            connection.answer(await connection.next(), ["stream": "stream:1", "room": 1_048_576])
            let stream = try await made
            client.session.link.openConnection?.roomBytes = 1
            connection.stopReading()
            // More bytes than the socket holds, in fewer writes than may be unanswered.
            let data = bytes(600_000)
            let writing = Task { try await stream.write { out in try await out.write(data) } }
            writing.cancel()
            let failure = await #expect(throws: BridgeError.self) { try await writing.value }
            #expect(failure?.code == .callCancelled)
            connection.startReading()
            var close = await connection.next()
            while close["task"] == "bridge.stream.write" { close = await connection.next() }
            #expect(close["task"] == "bridge.stream.close")
            #expect(close["options"]?["error"]?["code"] == "call.cancelled")
        }
    }

    @Test("A reader throws if the connection is lost before it has requested the next bytes")
    func lostBetween() async throws {
        try await withFakeDaemon { client, connection, _ in
            let received = await client.readStream("stream:1")
            let reading = Task { @LoopActor in try await received.collect(upTo: 9) }
            // Bytes are sent in messages.
            connection.fail(await connection.next(), ["code": "stream.invalid", "message": "no pipe"])
            connection.answer(await connection.next(), ["base64": "AQID"])
            connection.close()
            await #expect(throws: BridgeError.self) { try await reading.value }
        }
    }

    @Test("More bytes than the reader accepts end the stream")
    func tooMany() async throws {
        try await withClients { writer, reader in
            let stream = try await writer.makeStream()
            let writing = Task {
                try await stream.write { out in while true { try await out.write([1, 2, 3]) } }
            }
            let received = await reader.readStream(stream.name)
            let failure = await error { () async throws(BridgeError) in _ = try await received.collect(upTo: 2) }
            #expect(failure?.code == .quotaExceeded)
            await #expect(throws: BridgeError.self) { try await writing.value }
        }
    }

    @Test("Two clients pass bytes through one pipe without the daemon; each side may use messages instead")
    func pipe() async throws {
        try await withClients { writer, reader in
            let data = bytes(3 << 20)
            for (writesMessages, readsMessages) in [(false, false), (true, false), (false, true)] {
                let stream = try await writer.makeStream(totalBytes: writesMessages ? 1 : nil)
                let writing = Task { try await stream.write { out in try await out.write(data) } }
                var received: [UInt8] = []
                if readsMessages {
                    var result: JSON = [:]
                    while result["end"] == nil {
                        result = try await reader.callJSON("bridge.stream.read", ["stream": .string(stream.name)])
                        received +=
                            result["base64"]?.stringValue.flatMap { Data(base64Encoded: $0) }.map(Array.init) ?? []
                    }
                } else {
                    received = try await reader.readStream(stream.name).collect(upTo: data.count)
                }
                #expect(received == data)
                try await writing.value
            }
        }
    }
}
