import EventLoop
import Glibc
import Testing

@Suite(.timeLimit(.minutes(20))) @LoopActor struct OutOfBandTests {
    @Test("Out-of-band data does not end a stream, whether it is read or not")
    func outOfBand() async throws {
        let (stream, descriptor) = try UnixSocket.pair { first, second in
            (try UnixStream(adopting: first), second.release())
        }
        defer { stream.close() }
        let recorder = Recorder()
        stream.delegate = recorder
        // Kernels before 5.15 do not support it on Unix sockets.
        guard send(descriptor, "x", 1, Int32(MSG_OOB)) == 1 else { return #expect(close(descriptor) == 0) }
        await turns(20)
        stream.startReading()
        #expect(send(descriptor, "ab", 2, 0) == 2)
        // The kernel decides whether the byte itself arrives.
        await recorder.wait { $0.received.suffix(2) == Array("ab".utf8) }
        await turns(20)
        #expect(recorder.ends.isEmpty)
        close(descriptor)
        await recorder.wait { $0.ends == [.hangUp] }
    }
}
