import BridgeClient
import BridgeJSON
import EventLoop
import Foundation
import Testing

/// Blocking streams on the program's own threads, against the daemon's server and runtime.
@Suite(.timeLimit(.minutes(5))) @LoopActor struct BlockingStreamTests {
    /// Runs work that may block on a new thread.
    private func onThread<Value: Sendable>(
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
        }
    }

    private func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    }

    @Test(
        "One thread writes and another reads, through a pipe or through messages", arguments: [nil, 1], [0, 1, 700_001])
    func whole(totalBytes: Int?, count: Int) async throws {
        try await withClients { writer, reader in
            let data = bytes(count)
            // A writer that announces few bytes uses messages.
            let stream = try await writer.makeStream(totalBytes: totalBytes)
            async let writing: Void = onThread { try stream.writeBlocking { out in try out.writeBlocking(data) } }
            let received = await reader.readStream(stream.name)
            let read = try await onThread {
                var read: [UInt8] = []
                while let chunk = try received.readBlocking() { read += chunk }
                return read
            }
            try await writing
            #expect(read == data)
        }
    }

    @Test(
        "An error thrown by the closure on a thread ends the stream: the reader gets the earlier bytes, then the error")
    func thrown() async throws {
        struct NoPaper: Error {}
        try await withClients { writer, reader in
            let stream = try await writer.makeStream()
            let received = await reader.readStream(stream.name)
            await #expect(throws: NoPaper.self) {
                try await onThread {
                    try stream.writeBlocking { out in
                        try out.writeBlocking([1, 2])
                        throw NoPaper()
                    }
                }
            }
            #expect(try await onThread { try received.readBlocking() } == [1, 2])
            let failure = await #expect(throws: BridgeError.self) { try await onThread { try received.readBlocking() } }
            #expect(failure?.code == .streamClosed && failure?.data?["by"] == "writer")
        }
    }

    @Test("A thread that waits for the reader gets stream.closed when the reader is released")
    func gone() async throws {
        try await withClients { writer, reader in
            let stream = try await writer.makeStream()
            let writing = Task {
                try await onThread {
                    try stream.writeBlocking { out in
                        while true { try out.writeBlocking([UInt8](repeating: 0, count: 50_000)) }
                    }
                }
            }
            do {
                let received = await reader.readStream(stream.name)
                #expect(try await onThread { try received.readBlocking() } != nil)
            }
            let failure = await #expect(throws: BridgeError.self) { try await writing.value }
            #expect(failure?.code == .streamClosed)
        }
    }

    @Test("Blocking calls in a Swift task or on the loop thread are refused, and the stream stays usable")
    func refused() async throws {
        try await withClients { writer, reader in
            let stream = try await writer.makeStream()
            let received = await reader.readStream(stream.name)
            #expect(throws: BridgeError.self) { try received.readBlocking() }
            #expect(throws: BridgeError.self) { try stream.writeBlocking { _ in } }
            EventLoop.post { #expect(throws: BridgeError.self) { try received.readBlocking() } }
            async let writing: Void = stream.write { out in try await out.write([1]) }
            #expect(try await received.collect(upTo: 9) == [1])
            try await writing
        }
    }
}
