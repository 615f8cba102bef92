import EventLoop
import Glibc
import Testing

@Suite(.timeLimit(.minutes(20))) @LoopActor struct OutOfBandTests {
    @Test("Out-of-band data is no event of a stream, whether it is read or not, and does not keep the loop busy")
    func outOfBand() async throws {
        let (stream, descriptor) = try UnixSocket.pair { first, second in
            (try UnixStream(adopting: first), second.release())
        }
        defer { stream.close() }
        let recorder = Recorder()
        stream.delegate = recorder
        // Kernels before 5.15 have no such thing on Unix sockets.
        guard send(descriptor, "x", 1, Int32(MSG_OOB)) == 1 else { return #expect(close(descriptor) == 0) }
        await turns(20)
        stream.startReading()
        #expect(send(descriptor, "ab", 2, 0) == 2)
        // Whether the byte itself comes is the kernel's affair.
        await recorder.wait { $0.received.suffix(2) == Array("ab".utf8) }
        await turns(20)
        #expect(recorder.ends.isEmpty)
        close(descriptor)
        await recorder.wait { $0.ends == [.hangUp] }
    }
}
