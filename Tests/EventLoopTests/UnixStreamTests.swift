import EventLoop
import Glibc
import Testing

@Suite(.timeLimit(.minutes(20))) @LoopActor struct UnixStreamTests {
    @Test("Bytes arrive")
    func bytes() async throws {
        let pair = try StreamPair()
        defer { pair.close() }
        pair.theirs.startReading()
        #expect(pair.ours.write("hello") == 5)
        await pair.their.wait { $0.received.count == 5 }
        #expect(pair.their.received == Array("hello".utf8))
    }

    @Test("The peer of a stream has its credentials")
    func peer() async throws {
        let pair = try StreamPair()
        defer { pair.close() }
        #expect(pair.ours.peer == PeerCredentials(uid: getuid(), gid: getgid(), pid: getpid(), groups: ownGroups()))
    }

    @Test(
        "A half-close ends the input without a hang-up, the other direction still works, and a hang-up may follow")
    func halfClose() async throws {
        let pair = try StreamPair()
        defer { pair.close() }
        pair.ours.startReading()
        pair.theirs.startReading()
        pair.ours.write("question")
        pair.ours.shutdownWrite()
        await pair.their.wait { $0.ends.contains(.endOfInput) }
        #expect(pair.their.received == Array("question".utf8))
        #expect(pair.their.ends == [.endOfInput])
        pair.theirs.write("answer")
        await pair.our.wait { $0.received.count == 6 }
        await turns()
        #expect(pair.their.ends == [.endOfInput])
        pair.ours.close()
        await pair.their.wait { $0.ends.contains(.hangUp) }
        await turns()
        #expect(pair.their.ends == [.endOfInput, .hangUp])
    }

    @Test("A peer that closes causes a hang-up after all bytes that it has sent")
    func closeAfterSending() async throws {
        let pair = try StreamPair()
        defer { pair.close() }
        let bytes = [UInt8](repeating: 7, count: 150_000)
        #expect(pair.ours.write(bytes) == bytes.count)
        pair.ours.close()
        pair.theirs.startReading()
        await pair.their.wait { $0.ends.contains(.hangUp) }
        #expect(pair.their.received == bytes)
        #expect(pair.their.ends == [.hangUp])
    }

    @Test("A peer that closes without reading causes a hang-up, too, after the bytes that it has sent")
    func closeWithUnreadBytes() async throws {
        let pair = try StreamPair()
        defer { pair.close() }
        pair.theirs.write("never read")
        pair.ours.write("last words")
        pair.ours.close()
        pair.theirs.startReading()
        await pair.their.wait { $0.ends.contains(.hangUp) }
        #expect(pair.their.received == Array("last words".utf8))
        #expect(pair.their.ends == [.hangUp])
    }

    @Test("A peer's bytes are read later, even if it has closed and something was written to it meanwhile")
    func writeWhileSuspended() async throws {
        for awaitsRoom in [false, true] {
            let pair = try StreamPair()
            defer { pair.close() }
            let bytes = [UInt8](repeating: 7, count: 100_000)
            pair.theirs.startReading()
            pair.theirs.write("never read")
            #expect(pair.ours.write(bytes) == bytes.count)
            pair.theirs.suspendReading()
            pair.ours.close()
            if awaitsRoom { pair.theirs.awaitRoom() } else { pair.theirs.write("more") }
            for _ in 0..<5 { await turns() }
            #expect(pair.their.reports.isEmpty)
            pair.theirs.startReading()
            await pair.their.wait { $0.ends.contains(.hangUp) }
            #expect(pair.their.received == bytes)
            #expect(pair.their.ends == [.hangUp])
        }
    }

    @Test("A hang-up is reported while reading is paused and before it has begun")
    func hangUpWhilePaused() async throws {
        let pair = try StreamPair()
        defer { pair.close() }
        pair.ours.write("unread")
        pair.ours.close()
        await pair.their.wait { $0.ends.contains(.hangUp) }
        #expect(pair.their.received.isEmpty)
    }

    @Test("Without unread bytes, a hang-up is reported during awaitHangUp, but not while reading is suspended")
    func hangUpWhileSuspended() async throws {
        for isRead in [true, false] {
            let pair = try StreamPair()
            defer { pair.close() }
            pair.theirs.startReading()
            pair.ours.write("read")
            await pair.their.wait { $0.received.count == 4 }
            pair.theirs.awaitHangUp()
            // A half-close is not a hang-up.
            pair.ours.shutdownWrite()
            await turns(3)
            #expect(pair.their.ends.isEmpty)
            if !isRead { pair.theirs.suspendReading() }
            pair.ours.close()
            if isRead { await pair.their.wait { $0.ends == [.hangUp] } } else { await turns(3) }
            #expect(pair.their.ends == (isRead ? [.hangUp] : []))
        }
    }

    @Test("A hang-up after unread bytes is not reported while reading is suspended, but after they are read")
    func hangUpBehindUnread() async throws {
        let pair = try StreamPair()
        defer { pair.close() }
        pair.theirs.awaitHangUp()
        pair.ours.write("unread")
        pair.ours.close()
        await turns(4)
        #expect(pair.their.reports.isEmpty)
        pair.theirs.startReading()
        await pair.their.wait { $0.ends == [.hangUp] }
        #expect(pair.their.received == Array("unread".utf8))
    }

    @Test("The watched events change at the end of the turn, and the last of several calls applies")
    func watchedAtTurnEnd() async throws {
        let pair = try StreamPair()
        defer { pair.close() }
        pair.their.onReport = { [theirs = pair.theirs] _ in
            theirs.stopReading()
            theirs.startReading()
            theirs.suspendReading()
        }
        pair.theirs.startReading()
        pair.ours.write("a")
        await pair.their.wait { $0.received.count == 1 }
        pair.ours.write("b")
        await turns(4)
        #expect(pair.their.received == Array("a".utf8))
        pair.their.onReport = { [theirs = pair.theirs] _ in
            theirs.suspendReading()
            theirs.startReading()
        }
        pair.theirs.startReading()
        await pair.their.wait { $0.received.count == 2 }
        pair.ours.write("c")
        await pair.their.wait { $0.received.count == 3 }
        pair.their.onReport = nil
    }

    @Test("A paused stream reads nothing, and continues where it stopped")
    func pause() async throws {
        let pair = try StreamPair()
        defer { pair.close() }
        pair.theirs.startReading()
        pair.theirs.stopReading()
        pair.ours.write("waits")
        await turns(3)
        #expect(pair.their.received.isEmpty)
        pair.theirs.startReading()
        await pair.their.wait { $0.received.count == 5 }
    }

    @Test("A writer fills the socket, is notified when there is capacity, and every byte arrives in order")
    func fullSocket() async throws {
        let pair = try StreamPair()
        defer { pair.close() }
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        var written = pair.ours.write(bytes)
        #expect(written > 0 && written < bytes.count)
        #expect(pair.ours.write(Array(bytes[written...])) == 0)
        pair.our.onReport = { [ours = pair.ours] report in
            if report == .writable, written < bytes.count { written += ours.write(Array(bytes[written...])) }
        }
        await turns()
        #expect(pair.our.reports.isEmpty)
        pair.theirs.startReading()
        await pair.their.wait { $0.received.count == bytes.count }
        #expect(pair.their.received == bytes)
        #expect(pair.our.reports.allSatisfy { $0 == .writable })
        pair.our.onReport = nil
    }

    @Test("Room is reported only once to a stream that writes nothing")
    func writableOnce() async throws {
        let pair = try StreamPair()
        defer { pair.close() }
        _ = pair.ours.write([UInt8](repeating: 1, count: 3_000_000))
        pair.theirs.startReading()
        await pair.our.wait { $0.reports.contains(.writable) }
        await turns(4)
        #expect(pair.our.reports == [.writable])
    }

    @Test("Writing to a closed peer accepts nothing and reports one hang-up, not inside the write")
    func brokenPipe() async throws {
        let pair = try StreamPair()
        defer { pair.close() }
        pair.theirs.close()
        #expect(pair.ours.write("too late") == 0)
        #expect(pair.our.reports.isEmpty)
        await pair.our.wait { $0.ends.contains(.hangUp) }
        await turns()
        #expect(pair.our.reports == [.hangUp])
        #expect(pair.ours.write("again") == 0)
    }

    @Test("A peer that only refuses to read counts as disconnected at a write")
    func refusesToRead() async throws {
        let pair = try UnixSocket.pair { first, second in
            shutdown(second.descriptor, Int32(SHUT_RD))
            return (try UnixStream(adopting: first), second.release())
        }
        defer {
            pair.0.close()
            close(pair.1)
        }
        let recorder = Recorder()
        pair.0.delegate = recorder
        pair.0.startReading()
        #expect(pair.0.write("x") == 0)
        await recorder.wait { $0.ends == [.hangUp] }
    }

    @Test("A stream may be closed inside any of its callbacks; no report follows")
    func closeInsideCallback() async throws {
        for trigger in [Recorder.Report.bytes([1]), .endOfInput, .hangUp, .writable] {
            let pair = try StreamPair()
            defer { pair.close() }
            pair.their.onReport = { [theirs = pair.theirs] report in
                if report == trigger { theirs.close() }
            }
            pair.theirs.startReading()
            switch trigger {
            case .bytes:
                pair.ours.write([1])
                pair.ours.shutdownWrite()
            case .endOfInput: pair.ours.shutdownWrite()
            case .hangUp: pair.ours.close()
            default:
                _ = pair.theirs.write([UInt8](repeating: 1, count: 3_000_000))
                pair.ours.startReading()
            }
            await pair.their.wait { $0.reports.contains(trigger) }
            await turns(3)
            #expect(pair.their.reports == [trigger])
            #expect(!pair.theirs.isOpen)
        }
    }

    @Test("A closed stream is released, and so is its delegate")
    func released() async throws {
        weak var weakStream: UnixStream?
        weak var weakDelegate: Recorder?
        do {
            let pair = try StreamPair()
            weakStream = pair.ours
            weakDelegate = pair.our
            pair.close()
        }
        await turns(3)
        #expect(weakStream == nil)
        #expect(weakDelegate == nil)
    }

    @Test("A stream closed in the turn in which its bytes arrived reports nothing")
    func closedBySibling() async throws {
        let first = try StreamPair()
        let second = try StreamPair()
        defer {
            first.close()
            second.close()
        }
        for (one, other) in [(first, second), (second, first)] {
            one.their.onReport = { [theirs = other.theirs] _ in theirs.close() }
            one.theirs.startReading()
        }
        first.ours.write("a")
        second.ours.write("b")
        await turns(4)
        #expect(first.their.reports.count + second.their.reports.count == 1)
    }
}
