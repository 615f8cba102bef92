import BridgeMessage
import EventLoop
import Glibc
import Testing
import PluginInterface

/// A peer of the loop whose messages are counted, each of which takes 5 µs of a clock that is moved by hand.
@LoopActor
private final class CountedPeer {
    let channel: MessageChannel
    /// Our end of the peer's own socket.
    private let peer: Int32
    var received = 0
    var onMessage: (() -> Void)?

    init(_ name: FairUser.Name, _ scheduler: FairScheduler, _ clock: ManualClock) throws {
        let (ours, theirs) = try UnixSocket.pair { ($0.release(), $1.release()) }
        peer = theirs
        channel = try MessageChannel(UnixSocket(adopting: ours), lineBytes: 1 << 20, output: OutputBuffer())
        channel.share(scheduler, as: name)
        channel.receive = { [weak self] _ in
            self?.channel.noteUnasked()
            clock.nanoseconds += 5_000
            self?.received += 1
            self?.onMessage?()
        }
    }

    func send(_ lines: Int) throws {
        let bytes = Array(String(repeating: "{\"task\":\"plugin.log\",\"options\":{}}\n", count: lines).utf8)
        try #require(write(peer, bytes, bytes.count) == bytes.count)
    }

    func close() {
        channel.close()
        Glibc.close(peer)
    }
}

@LoopActor
private final class ManualClock {
    var nanoseconds: UInt64 = 1_000_000_000
}

@Suite("A plugin's process that floods the daemon", .timeLimit(.minutes(20))) @LoopActor
struct FloodTests {
    @Test("takes turns with a user, whose calls wait for a bounded number of its lines each")
    func yields() async throws {
        let clock = ManualClock()
        let scheduler = FairScheduler(manualClock: { clock.nanoseconds })
        defer { scheduler.close() }
        let process = try CountedPeer(.process(7), scheduler, clock)
        let user = try CountedPeer(.uid(1), scheduler, clock)
        defer {
            process.close()
            user.close()
        }
        // How many lines of the flood were handled before each call of the user's was.
        var waits: [Int] = []
        var before = 0
        var handled = 0
        try process.send(2_000)
        await withCheckedContinuation { continuation in
            process.onMessage = {
                guard process.received == 1 else { return }
                before = 1
                send(user)
            }
            user.onMessage = {
                waits.append(process.received - before)
                before = process.received
                if waits.count < 40 { return send(user) }
                guard waits.count == 40 else { return }
                handled = process.received
                continuation.resume()
            }
        }
        // The share of a process beside a quiet user: 40 lines. Beside one who sends: 4, in two turns.
        #expect((waits.first ?? 0) <= 44, "\(waits)")
        #expect(waits.dropFirst().allSatisfy { $0 <= 12 }, "\(waits)")
        // The process has its turns, too.
        #expect((40..<600).contains(handled), "\(waits)")
    }

    private func send(_ user: CountedPeer) {
        do { try user.send(1) } catch { Issue.record("\(error)") }
    }
}
