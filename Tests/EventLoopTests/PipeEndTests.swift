import EventLoop
import Glibc
import Testing

@Suite("Pipes, and descriptors sent with bytes", .timeLimit(.minutes(20))) @LoopActor struct PipeEndTests {
    /// Creates a pipe and returns its ends.
    private func ends() throws -> (reader: PipeEnd, writer: PipeEnd) {
        var ends = try PipeEnds()
        let reader = try take(ends.takeReader())
        return (reader, try take(ends.takeWriter()))
    }

    private func take(_ end: consuming UnixSocket?) throws -> PipeEnd {
        guard let end else { throw SystemError(code: EBADF, operation: "take an end") }
        return try PipeEnd(end)
    }

    private func write(_ bytes: [UInt8], _ end: PipeEnd) throws -> Int {
        try bytes.withUnsafeBytes { try end.write($0) }
    }

    @Test("Each end of a pipe can be taken once")
    func once() throws {
        var ends = try PipeEnds()
        let isFirst = ends.takeReader() != nil && ends.takeWriter() != nil
        let isSecond = ends.takeReader() != nil || ends.takeWriter() != nil
        #expect(isFirst && !isSecond)
    }

    @Test("Bytes arrive as written, at most the requested number at a time, and then the end")
    func bytes() throws {
        let (reader, writer) = try ends()
        #expect(try reader.read(9) == nil)
        #expect(try write([1, 2, 3], writer) == 3)
        #expect(try reader.read(2) == [1, 2])
        #expect(try reader.read(9) == [3])
        #expect(try reader.read(9) == nil)
        writer.close()
        #expect(try reader.read(9) == [])
    }

    @Test("A callback that waits for bytes or for room is called once")
    func waiting() async throws {
        let (reader, writer) = try ends()
        var calls = 0
        await withCheckedContinuation { continuation in
            reader.awaitBytes {
                calls += 1
                continuation.resume()
            }
            _ = try? write([1], writer)
        }
        #expect(try reader.read(9) == [1])
        while try write([UInt8](repeating: 0, count: 1 << 16), writer) > 0 {}
        await withCheckedContinuation { continuation in
            writer.awaitRoom {
                calls += 1
                continuation.resume()
            }
            _ = try? reader.read(1 << 16)
        }
        #expect(calls == 2)
    }

    @Test("Writing to a pipe without a reader throws an error and raises no signal")
    func broken() throws {
        let (reader, writer) = try ends()
        reader.close()
        #expect(throws: SystemError.self) { _ = try write([1], writer) }
    }

    @Test("Making the other end blocking does not make this end blocking")
    func blockingPeer() throws {
        var left = try PipeEnds()
        let reader = try take(left.takeReader())
        let theirs = left.takeWriter()?.release() ?? -1
        defer { close(theirs) }
        #expect(fcntl(theirs, F_SETFL, fcntl(theirs, F_GETFL) & ~O_NONBLOCK) == 0)
        #expect(try reader.read(9) == nil)
        var right = try PipeEnds()
        let writer = try take(right.takeWriter())
        let their = right.takeReader()?.release() ?? -1
        defer { close(their) }
        #expect(fcntl(their, F_SETFL, fcntl(their, F_GETFL) & ~O_NONBLOCK) == 0)
        var written = 0
        while case let count = try write([UInt8](repeating: 1, count: 1 << 16), writer), count > 0 { written += count }
        #expect(written >= 1 << 16)
    }

    @Test("A descriptor arrives with the first of the bytes that it was sent with")
    func passing() async throws {
        let pair = try StreamPair()
        defer { pair.close() }
        var came: [(after: Int, inode: UInt64?)] = []
        pair.theirs.onDescriptor = { socket in
            came.append((pair.their.received.count, UnixSocket.inode(of: socket.descriptor)))
        }
        pair.theirs.startReading()
        let descriptor = dup(pair.theirs.descriptor)
        defer { close(descriptor) }
        #expect(pair.ours.write("one") == 3)
        let passed = Array("two".utf8).withUnsafeBytes { pair.ours.write($0, with: descriptor) }
        #expect(passed == 3 && !pair.ours.isReceived)
        #expect(pair.ours.write("three") == 5)
        await pair.their.wait { $0.received.count == 11 }
        #expect(pair.their.received == Array("onetwothree".utf8))
        // Bytes that were sent before the descriptor may be read together with its own.
        #expect(came.count == 1 && came[0].after <= 3 && came[0].inode == UnixSocket.inode(of: descriptor))
        #expect(pair.ours.isReceived)
    }

    @Test("A stream that does not accept descriptors still gets the bytes")
    func unwanted() async throws {
        let pair = try StreamPair()
        defer { pair.close() }
        pair.theirs.startReading()
        #expect(Array("bytes".utf8).withUnsafeBytes { pair.ours.write($0, with: 0) } == 5)
        await pair.their.wait { $0.received.count == 5 }
    }
}
