import BridgeClient
import BridgeJSON
import EventLoop
import Foundation
import Testing

/// Streams on threads of the program's own, against the daemon's own server and runtime.
@Suite(.timeLimit(.minutes(5))) @LoopActor struct BlockingStreamTests {
    /// Does work on a thread of its own, which may block.
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
        "A thread writes and another one reads, by one pipe and by messages", arguments: [nil, 1], [0, 1, 700_001])
    func whole(totalBytes: Int?, count: Int) async throws {
        try await withClients { writer, reader in
            let data = bytes(count)
            // A writer that knows of few bytes uses messages.
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

    @Test("A closure that throws on a thread breaks the stream: its reader gets the bytes before, and then the error")
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

    @Test("A thread that waits for the reader learns that it is gone")
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

    @Test("In a Swift task and on the loop thread nothing may block: both are refused, and the stream goes on")
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
