import BlockingLanes
import BridgeJSON
import ByteStreams
import Synchronization
import Testing

/// An end of a stream in memory: it returns chunks, or waits until it is cancelled, and stores written bytes.
private final class MemoryEnd: ByteSource, ByteSink {
    private struct State {
        var chunks: [[UInt8]]
        var written: [UInt8] = []
        var isClosed = false
        var left: BridgeError?
    }

    private let state: Mutex<State>
    private let waits: Bool
    private let waiting = AsyncStream<Void>.makeStream()
    let isOwnThread: Bool

    init(_ chunks: [[UInt8]] = [], waits: Bool = false, isOwnThread: Bool = false) {
        state = Mutex(State(chunks: chunks))
        (self.waits, self.isOwnThread) = (waits, isOwnThread)
    }

    var written: [UInt8] { state.withLock { $0.written } }
    var isClosed: Bool { state.withLock { $0.isClosed } }
    var left: BridgeError? { state.withLock { $0.left } }

    /// Waits until a read waits.
    func isWaiting() async { for await _ in waiting.stream { return } }

    var announcement: ByteReader.Announcement? { get async { nil } }

    func next() async throws(BridgeError) -> [UInt8]? {
        guard waits else { return state.withLock { $0.chunks.isEmpty ? nil : $0.chunks.removeFirst() } }
        waiting.continuation.yield()
        try? await Task.sleep(for: .seconds(3_600))
        throw BridgeError(.callCancelled, "the wait was cancelled")
    }

    func leave() {}
    func write(_ bytes: [UInt8]) async throws(BridgeError) { state.withLock { $0.written += bytes } }
    func close() async throws(BridgeError) { state.withLock { $0.isClosed = true } }
    func leave(_ error: BridgeError) { state.withLock { $0.left = error } }
}

@Suite("Streams on blocking threads", .timeLimit(.minutes(20)))
struct BlockingStreamTests {
    private let threads = BlockingThreads(name: "stream")

    @Test("A thread reads chunk by chunk until the end")
    func read() async throws {
        let reader = ByteReader("stream:1", MemoryEnd([[1, 2], [3]]))
        let chunks = try await threads.run {
            var chunks: [[UInt8]] = []
            while let chunk = try reader.readBlocking() { chunks.append(chunk) }
            return chunks
        }
        #expect(chunks == [[1, 2], [3]])
    }

    @Test("A thread writes a stream, which is complete when the body has returned")
    func write() async throws {
        let end = MemoryEnd()
        let stream = ByteStream("stream:1", end)
        try await threads.run {
            try stream.writeBlocking { out in
                try out.writeBlocking([1, 2])
                try out.writeBlocking([3])
            }
        }
        #expect(end.written == [1, 2, 3] && end.isClosed)
    }

    @Test("An error of the body ends the stream")
    func fails() async {
        let end = MemoryEnd()
        let stream = ByteStream("stream:1", end)
        await #expect(throws: BridgeError("disk.full", "no room")) {
            try await threads.run {
                try stream.writeBlocking { _ in throw BridgeError("disk.full", "no room") }
            }
        }
        #expect(end.left?.code == "disk.full" && !end.isClosed)
    }

    @Test("A waiting read ends when the Swift task that waits for its thread is cancelled")
    func cancelled() async {
        let end = MemoryEnd(waits: true)
        let reader = ByteReader("stream:1", end)
        let reading = Task { try await threads.run { try reader.readBlocking() } }
        await end.isWaiting()
        reading.cancel()
        let error = await #expect(throws: BridgeError.self) { try await reading.value }
        #expect(error?.code == .callCancelled)
    }

    @Test("Blocking calls are refused in a Swift task and on the thread that moves the bytes")
    func refused() async {
        #expect(refusal { () throws(BridgeError) in try ByteReader("stream:1", MemoryEnd()).readBlocking() })
        let own = MemoryEnd(isOwnThread: true)
        await #expect(throws: BridgeError.self) {
            try await threads.run { try ByteStream("stream:1", own).writeBlocking { _ in } }
        }
        #expect(!own.isClosed)
    }

    /// Whether `body` is refused because it would block.
    private func refusal(_ body: () throws(BridgeError) -> [UInt8]?) -> Bool {
        do throws(BridgeError) {
            _ = try body()
            return false
        } catch {
            return error.code == .internal && error.message.contains("must not block")
        }
    }
}
